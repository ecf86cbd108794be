#include "core/lifecycle/failure_rules.h"

namespace trainyard::core {
namespace {

using enum model::FailureClass;
using enum model::Sign;

// Exception names may be qualified: torch.cuda.OutOfMemoryError.
void addExceptions(Rules& rules) {
  rules.push_back(logRule(
      "syntax", kSyntaxError, kCause, 78,
      R"(^\s*(\w+: )?(SyntaxError|IndentationError|TabError)\b|LoadError: (ParseError|syntax:)|: line \d+: (syntax error|unexpected EOF|unexpected end)|)"
      R"((sh|bash|dash): \d+: Syntax error|\bSyntax error: |syntax error near unexpected token|)"
      R"(unexpected EOF while looking for matching|syntax error: unexpected)"));
  rules.push_back(logRule(
      "import", kImportError, kCause, 74,
      R"(ModuleNotFoundError|^(\w+\.)*ImportError\b|No module named|cannot import name|PackageNotFoundError|)"
      R"(DistributionNotFound|distribution was not found|\bVersionConflict\b|Cannot find module '|ClassNotFoundException|)"
      R"(NoClassDefFoundError|Package \w+ not found in current path|Missing optional dependency|due to a circular import|)"
      R"(^(\w+\.)*\w+(Error|Exception): .{0,200}(pip3? install|[Pp]lease install|is not installed))"));
  rules.push_back(logRule(
      "library", kLibraryMissing, kCause, 87,
      R"(error while loading shared libraries|cannot open shared object file|undefined symbol: |)"
      R"(version [`'"](GLIBC|GLIBCXX|CXXABI|CUDART|lib\w+)[^'"`]*['"`] not found|symbol lookup error|)"
      R"((?i:(could not|unable to|failed to|cannot) (load|open|find) (dynamic |shared )?(library|lib)\b.{0,80}\.so)|)"
      R"(UnsatisfiedLinkError|(in|with) static TLS|Error relocating |Unable to load any of \{lib|)"
      R"((?i:could not find lib\w+\.so|library not found|\blib[\w+-]+\.so[.\d]* (is )?(not found|missing))|)"
      R"(Invalid handle\. Cannot load symbol|wrong ELF class|invalid ELF header|file too short)"));
  rules.push_back(logRule(
      "command", kCommandNotFound, kCause, 72,
      R"((sh|bash|dash|zsh|ash|env|exec|entrypoint\S*|line \d+)[:\]] .{0,120}(: |: not found|command not found)\bnot found|)"
      R"(: command not found|^[^ ]*sh: \d+: [^ ]+: not found|executable file not found in \$PATH|)"
      R"([Ee]xec format error|bad interpreter|env: .{0,60}No such file or directory|)"
      R"(failed to run command|Unable to access jarfile|exec \S+ failed: |can't open '?[^' ]+\.(sh|py)'?: |)"
      R"((^|/)(ba|da|z)?sh: (line \d+: )?[^: ]+(\.(sh|py)|/bin/\w+): No such file|)"
      R"(can't open file '[^']+': \[Errno 2\]|exec .{0,80}: no such file or directory)"));
  model::FailureRule shell = logRule("command-not-executable", kCommandNotFound, kCause, 88,
                                     R"(: Permission denied|: cannot execute|: Is a directory)");
  shell.exitCodes = {126};
  rules.push_back(std::move(shell));
  model::FailureRule missing =
      logRule("command-missing", kCommandNotFound, kCause, 74, R"((?i)no such file or directory|not found)");
  missing.exitCodes = {127};
  rules.push_back(std::move(missing));
  rules.push_back(logRule(
      "argument", kArgumentError, kCause, 76,
      R"(error: (unrecognized arguments|the following arguments|argument |one of the arguments|ambiguous option|invalid choice|too few arguments)|)"
      R"((?i:unrecognized option|no such option|missing (option|argument|command)\b|invalid option -|unknown (command[- ]line )?(flag|option|argument)|)"
      R"(unrecognized (flag|command|argument))|\bError: (Invalid value|Missing|No such|Got unexpected)|)"
      R"((Unrecognized|IllegalFlagValue|Unparsed)\w*Error|FATAL Flags parsing error|)"
      R"(MissingMandatoryValue|Missing mandatory value|ConfigAttributeError|ConfigKeyError|ConfigCompositionException|MissingConfigException|)"
      R"(Could not override '|ConfigValueError|ValidationError|validation errors? for|InterpolationKeyError|OverrideParseException|)"
      R"((?i:missing (required )?(config\w*|key|field|parameter|setting|value for)|required (config\w*|key|field|setting|parameter|option) )|)"
      R"((?i:(invalid|unknown|unsupported|bad|malformed|wrong) (config\w*|parameter|setting|key in config|argument for))|)"
      R"((?i:config\w* (file )?.{0,60}(is invalid|not found|missing|does not (exist|define|contain)))|)"
      R"(yaml\.(scanner|parser|constructor|composer)\.|ScannerError|ConfigError|ConfigurationError|)"
      R"((?i:environment variable .{0,60}(not set|must be set|missing|required|unset|undefined|not defined)))"));
  rules.push_back(logRule(
      "argument-of-tool", kArgumentError, kCause, 75,
      R"(Some specified arguments are not used|^In '[^']+': (Could not|Validation)|Cannot find primary config|mismatched input '|)"
      R"(no viable alternative at input|Interpolation\w+Error|omegaconf\.errors\.|Check batch related parameters|)"
      R"(Unsupported nproc_per_node|unexpected argument '|flag provided but not defined|unknown shorthand flag|)"
      R"(flag needs an argument|[Uu]nrecognized options|Could not consume arg|no value for the required argument|)"
      R"((?i:invalid value .{0,60} for (flag|option|argument|'--?))|(?i:TomlDecodeError)|configparser\.\w+Error|)"
      R"(No configurable matching|DocoptExit|^(\w+\.)+Argument(Type)?Error\b|required flag\(s\)|conflicting option string|)"
      R"((?i:(at most|exactly|only) one of .{0,80}\b(can|must|may|should) be|mutually exclusive|not allowed (together|with argument))|)"
      R"((?i:cannot (both )?be (used|set|specified|enabled) (together|at the same time|simultaneously))|)"
      R"((Error|error): .{0,60}--[a-z][\w-]+ (is|must|requires?|expects|cannot|can only|should|needs|not|and|was)\b|)"
      R"((?i:(world.?size|batch.?size|num.?gpus|gpus).{0,60} (not|be) (evenly )?divisible by)|divisible by .{0,40}parallel|)"
      R"((?i:(unknown|unsupported|unrecognized|invalid) (optimizer|lr_?scheduler|scheduler|precision|strategy|accelerator)\b)|)"
      // Keys of this form are environment variables.
      R"(^KeyError: '[A-Z][A-Z0-9]*_[A-Z0-9_]+'|^KeyError: '(RANK)')"));
  model::FailureRule usage =
      logRule("usage", kArgumentError, kCause, 64, R"((?i)^\s*usage: |Try '.*--help')");
  usage.exitCodes = {2, 64};
  rules.push_back(std::move(usage));
  // No service or device causes these, whatever their messages mention.
  rules.push_back(
      logRule("program-mistake", kUserCodeError, kCause, 85,
              R"(^(\w+\.)*(TypeError|NameError|UnboundLocalError|ZeroDivisionError|IndexError)\b)"));
  rules.push_back(logRule(
      "program-shapes", kUserCodeError, kCause, 60,
      R"(shapes cannot be multiplied|size of tensor a|shape '.*' is invalid for input|to be on the same device|)"
      R"(expected scalar type|needed for gradient computation|Trying to backward through|Given groups=|)"
      R"(should be the same|does not require grad|stack expects each|[Ii]ndex out of range|Incompatible shapes|)"
      R"(start a new process before|re-initialize CUDA in forked|finished reduction in the prior|)"
      R"(were not used in producing loss|must match (the existing size|except in dimension)|[Dd]imension out of range|)"
      R"(Expected .{0,40}-dimensional|not compiled with CUDA|inconsistent tensor|size mismatch, |)"
      R"(mismatch in shape|[Ss]hape mismatch|Dimensions must be equal|GraphDef|Matrix size-incompatible)"));
  rules.push_back(logRule(
      "exception", kUserCodeError, kCause, 42,
      R"(^(\w+\.)*(TypeError|ValueError|KeyError|IndexError|AttributeError|NameError|AssertionError|ZeroDivisionError|)"
      R"(NotImplementedError|UnboundLocalError|RecursionError|StopIteration|OverflowError|LookupError|ArithmeticError|)"
      R"(InvalidArgumentError|FailedPreconditionError|UnimplementedError|UnsupportedOperation|TracerBoolConversionError|)"
      R"(ConcretizationTypeError|UnexpectedTracerError|InvalidTypeForm|MXNetError|BackendCompilerFailed)\b)"));
  rules.push_back(logRule(
      "exception-elsewhere", kUserCodeError, kCause, 38,
      R"(^Exception in thread |^panic: |thread '.*' panicked at|^goroutine \d+ \[running|^Error in .{1,80} : |ERROR: LoadError: )"));
  rules.push_back(logRule("exception-of-its-own", kUserCodeError, kSymptom, 50,
                          R"(^(\w+\.)*\w*(Error|Exception|Failure|Fault)(: |:$|$|\()|)"
                          R"(^(\w+\.)+(exc|exceptions?|errors?)\.\w+(: |:?$|\())"));
}

void addCrashes(Rules& rules) {
  rules.push_back(logRule(
      "segmentation-fault", kSegmentationFault, kCause, 58,
      R"((?i)\bSegmentation fault\b|\bSIGSEGV\b|\bsegfault at\b|signal:? 11\b|exit ?code\W{1,6}-11\b|\bSegfault encountered|Sanitizer: SEGV)"));
  rules.push_back(logRule(
      "heap", kAborted, kCause, 54,
      R"(double free or corruption|free\(\): |malloc\(\): |malloc_consolidate|munmap_chunk\(\)|realloc\(\): |)"
      R"(corrupted (size|double-linked|unsorted)|stack smashing detected|pure virtual method called|)"
      R"(\b[Ii]llegal instruction\b|\bSIGILL\b|signal:? 4\b|Floating point exception|\bSIGFPE\b|glibc detected|\*\*\* buffer overflow|)"
      R"(\w+Sanitizer: (heap|stack|global|attempting|double|alloc)|^fatal runtime error: |Fatal glibc error|Attempt to free invalid pointer)"));
  rules.push_back(logRule(
      "aborted", kAborted, kSymptom, 42,
      R"(terminate called|Aborted \(core dumped\)|\bAborted\b *$|\bSIGABRT\b|[Ss]ignal:? 6\b|exit ?code\W{1,6}-6\b|)"
      R"(Fatal Python error|: Assertion [`'].*' failed|Check failed: |\bcore dumped\b|dumped core)"));
}

void addInput(Rules& rules) {
  rules.push_back(logRule(
      "input", kInputError, kCause, 70,
      R"(^(\w+\.)*(FileNotFoundError|IsADirectoryError|NotADirectoryError|UnicodeDecodeError|JSONDecodeError|EmptyDataError|ParserError|)"
      R"(UnidentifiedImageError|BadZipFile|BadGzipFile|DataLossError|ArrowInvalid|DatasetNotFoundError|DatasetGenerationError|)"
      R"(ReadError|LZMAError|DecompressionBombError|EmptyDatasetError|NotFoundError|XMLSyntaxError|ParseError|NoSuchKey)\b|)"
      R"(zlib\.error|struct\.error: unpack|_csv\.Error|)"
      R"(cannot identify image|image file is truncated|broken data stream|Truncated File Read|Corrupt JPEG|Invalid (JPEG|PNG|image)|)"
      R"(truncated record|corrupted record|Error tokenizing data|Couldn't find any class folder|)"
      R"(num_samples should be a positive|No such file or directory|DataLossError|Not a gzipped file|)"
      R"(Caught (FileNotFoundError|UnidentifiedImageError|JSONDecodeError|UnicodeDecodeError)|)"
      R"((?i:(dataset|data ?file|input ?file|data ?dir\w*|input ?path|shard|tfrecord|recordio|record|sample|manifest|annotation)\b.{0,80}(not found|does not exist|doesn't exist|is empty|corrupt|malformed|truncated|missing|invalid))|)"
      R"((?i:(corrupt|malformed|truncated|invalid|bad|empty)(ed)? .{0,20}(record|image|tfrecord|recordio|shard|sample|jpeg|png|parquet|csv|dataset|header|archive))|)"
      R"((?i:no (data|files|images|samples|tfrecords|records) (were )?(found|match)|found 0 (files|images|samples|records|examples))|)"
      R"(DataFilesNotFound|DatasetGeneration\w*Error|Expected image \(|(unknown|[Uu]nrecognized|unsupported) (image |audio |file )?format|)"
      R"([Ff]ormat not recogni[sz]ed|Error opening '/|Compressed file ended before|Invalid data found when processing|InvalidDataError|)"
      R"(moov atom not found|DECORDError|!_?(ssize|src)\.empty\(\)|LibsndfileError|MDB_[A-Z]+|^lmdb\.\w*Error|file is not a database|)"
      R"(disk image is malformed|doesn't match expected format|allow_pickle=False|datasets\.(table|builder|arrow\w*)\.\w+Error|column names don't match|not a (valid )?(PNG|JPEG|image|video|tar|zip)\b|Failed to interpret file|)"
      R"((?i:(unable|could not|cannot|failed) (to )?(find|open) (the )?(training |input |data ?|validation |sample )?(file|set|shard|record|'?/data)\b)|)"
      R"(NoSuchKey|NoSuchBucket|Unable to (synchronously )?open (file|object)|not a Parquet file|Parquet magic bytes|Invalid magic number|)"
      R"(Could not parse example|Key: .{1,60}Can't parse serialized|Input/output mismatch|FileNotFoundException|Input path does not exist|)"
      R"((?i:404 (client error|not found|get )|http error 404|\(404\)))"));
  // The message has only the name of the input.
  rules.push_back(logRule(
      "input-named", kInputError, kCause, 48,
      R"(^(\w+\.)*(Value|Runtime|Assertion|EOF|Cast|Decode|Format|Lookup|Key)Error: .{0,160}(/data/|/datasets?/|\.(csv|jsonl|parquet|tar|tfrecord|jpe?g|png|h5|npy|npz|rec|idx|arrow|mp4|wav|flac)\b))"));
}

void addDivergence(Rules& rules) {
  model::FailureRule diverged = logRule(
      "diverged", kModelDiverged, kCause, 77,
      R"((?i)\bloss\b.{0,40}\b(nan|inf|infinity|infinite|non-?finite|diverg\w+)\b.{0,80}(stop|abort|terminat|exit|end|halt|quit|fail|kill|rais)|)"
      R"((stop|abort|terminat|exit|end|halt|quit|fail)\w* .{0,60}\bloss\b.{0,30}(nan|inf\b|non-?finite|diverg)|)"
      R"(outputs? (is|are|contains?) (nan|inf)\b|\b(is|are) nan\b.{0,10}stop|NanLoss|NaN loss during training|Model diverged|training (has )?diverged|loss (has )?diverged|)"
      R"(Minimum loss scale reached|loss scale.{0,60}(already at minimum|at minimum|below|too (small|low)|reached)|cannot decrease scale|)"
      R"(FloatingPointError|Tensor had (NaN|Inf)|Found nan in|nan in (loss|grad)|non-?finite (loss|grad\w*)|)"
      R"(returned nan values|(loss|gradients?|grad_?norm|weights?|parameters?|logits|activations?) .{0,30}(contains?|is|are|became|becomes|went|has|have) .{0,12}\b(nan|inf|infinite|non-?finite)\b|)"
      R"((nan|inf) (loss|gradients?|values?) (detected|encountered|found)|(detected|encountered|found|got|hit) .{0,20}\b(nan|inf|non-?finite) .{0,20}(loss|grad|value|parameter|output))");
  diverged.log +=
      R"(|Nan in summary histogram|invalid values? in .?loss|invalid loss, (terminat|stop|abort|exit)|)"
      R"(norm (is|was|became) (inf|nan|non-?finite)\b.{0,80}(stop|abort|terminat|exit|halt|quit)|divergence detected|)"
      R"(\b(nan|inf)s? (was |were )?(detected|found|encountered) in (the )?(loss|grad|weight|param|activ|output|logit|forward|backward)|)"
      R"(= (nan|inf) is not finite|either .inf., .nan.|Diverged?\w*Error|loss (spiked|exploded)|loss (become|became|becomes|went) (infinite|nan|inf)\b)";
  diverged.evenIfQuiet = true;
  rules.push_back(std::move(diverged));
}

}  // namespace

void addProgramRules(Rules& rules) {
  addExceptions(rules);
  addCrashes(rules);
  addInput(rules);
  addDivergence(rules);
}

}  // namespace trainyard::core
