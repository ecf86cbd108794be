#include "core/lifecycle/failure_rules.h"

namespace trainyard::core {
namespace {

using enum model::FailureClass;
using enum model::Sign;

void addMemory(Rules& rules) {
  rules.push_back(
      logRule("gpu-memory", kGpuOutOfMemory, kCause, 80,
              R"((?i)(CUDA|HIP|GPU|cudaMalloc)[^a-z].{0,40}\bout of memory|OutOfMemoryError: (CUDA|HIP|GPU)|)"
              R"(torch\.(cuda\.)?OutOfMemoryError|(CUDA|HIP)_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|)"
              R"((CUBLAS|CUDNN|CUSOLVER|CUFFT)_(STATUS_)?ALLOC_FAILED|)"
              R"(Cuda failure.{0,8}out of memory|cudaMalloc.* failed: out of memory)"));
  rules.push_back(
      logRule("device-allocator", kGpuOutOfMemory, kCause, 76,
              R"((?i)RESOURCE_EXHAUSTED: .*(out of memory|OOM|allocat)|ResourceExhaustedError|)"
              R"(OOM when allocating tensor|ran out of memory in memory space|)"
              R"(Out of memory (while|allocating|trying to allocate) .*(bytes|byte)|)"
              R"(failed to allocate .* (from|on) (the )?device|)"
              R"(Failed to allocate (memory for )?(request|buffer)|)"
              R"(GPU memory (is )?(exhausted|insufficient)|No available memory for the cache blocks|)"
              R"(exceed\w* (allowed|available|the) (device |GPU )?memory|exceeds? HBM)"));
  // TensorFlow names the allocator: host memory has the same message otherwise.
  rules.push_back(logRule("host-allocator", kHostOutOfMemory, kCause, 82,
                          R"((?i)OOM when allocating tensor.*(device:CPU|allocator (cpu|mklcpu)))"));
  rules.push_back(logRule(
      "host-memory", kHostOutOfMemory, kCause, 78,
      R"(DefaultCPUAllocator|CPUAllocator\.cpp|posix_memalign|std::bad_alloc|^(\w+\.)*_?(Array|Arrow)?MemoryError\b|)"
      R"((?i:Cannot allocate memory|unable to allocate [\d.]+ ?[KMGT]i?B|out of memory: killed process)|)"
      R"((?i:oom[-_ ]kill(er|ed)?\b[: ]|memory cgroup out of memory|killed by (the )?(kernel )?oom)|)"
      R"((?i:killed (due to|because of) (out of memory|memory)|exceeded (its |the )?memory limit)|)"
      R"((?i:worker .*killed by signal: Killed|OutOfMemoryError: (Java heap|unable to create|GC|Task was))|)"
      R"(runtime: (out of memory|cannot allocate memory)|memory allocation of \d+ bytes failed|malloc of size \d+ failed|)"
      R"((?i:heap out of memory|insufficient memory (for|\))|failed to (allocate|malloc|mmap) \d+ ([kmg]i?)?b(ytes)?\b)|)"
      R"((?i:OOMKilled|ray\.exceptions\.OutOfMemoryError|std::length_error.*alloc|mmap failed: Cannot))"));
  rules.push_back(logRule(
      "shared-memory", kSharedMemory, kCause, 86,
      R"((?i)insufficient shared memory|out of shared memory|unable to open shared memory object|)"
      R"(killed by signal: Bus error|Unexpected bus error|)"
      R"((creating|allocat\w+|attach\w*|extend\w*|open\w*|mmap\w*|map\w*) .{0,24}shared memory|)"
      R"((fail\w*|error|could not|cannot|system call).{0,40} shared memory (init|segment|region|object|file|alloc)|)"
      R"((enough|insufficient|exceeds?|no) .{0,20}/dev/shm|shared[- ]memory backing file|)"
      R"(raise your shared memory limit|increase (the )?(shm|shared memory)|)"
      R"((/dev/shm|</torch_|shm_open|ftruncate.*shm|posix_fallocate).*(No space|Cannot allocate|failed|error)|)"
      R"((No space|Cannot allocate|failed|error).*(/dev/shm|</torch_|shm_open|posix_fallocate))"));
  rules.push_back(
      logRule("bus-error", kSharedMemory, kCause, 56, R"((?i)\bBus error\b|\bSIGBUS\b|signal 7\b)"));
  rules.push_back(logRule("shared-memory-descriptors", kSharedMemory, kCause, 50,
                          R"((?i)received \d+ items of ancdata)"));
}

void addDevices(Rules& rules) {
  model::FailureRule xid =
      logRule("xid", kGpuHardware, kCause, 90,
              R"(NVRM: (Xid|GPU at PCI|.{0,40}RmInitAdapter failed)|\bS?Xid\b( \(PCI|[: ]+\d+| error)|)"
              R"((?i:xid[ =:]+\d+))");
  xid.evenIfQuiet = true;
  rules.push_back(std::move(xid));
  model::FailureRule hardware = logRule(
      "gpu-hardware", kGpuHardware, kCause, 88,
      R"((?i)fallen off the bus|uncorrectable (ECC|NVLink)|ECC (error|uncorrectable)|double[- ]bit (ecc|error)|)"
      R"((CUDA_ERROR_|cudaError)(ECC|NVLINK|HARDWARE|Hardware)|hardware stack error|GPU is lost|)"
      R"(Unable to determine the device handle for (GPU|gpu)|row[- ]?remap\w* (fail|pending|error)|)"
      R"(NVLink.{0,40}(fatal|error|fail|inactive|down)|GPU (has|needs|requires) .{0,20}reset|)"
      R"(GPU (reset|requires) (required|reset)|page retirement|GPU memory (page|row)|contained ECC|)"
      R"(HW Exception by GPU|uncorrectable hardware error|GPU ?Is ?Lost|XID \d+ (detected|error|reported))");
  hardware.evenIfQuiet = true;
  rules.push_back(std::move(hardware));
  rules.push_back(logRule(
      "cuda-version", kCudaVersionMismatch, kCause, 84,
      R"((?i)driver version is insufficient|no kernel image is available|unsupported toolchain|)"
      R"(NVIDIA driver on your system is too old|cudaErrorInsufficientDriver|)"
      R"(CUDA_ERROR_(UNSUPPORTED_PTX|NO_BINARY_FOR_GPU|SYSTEM_DRIVER_MISMATCH|COMPAT_NOT_SUPPORTED|INVALID_PTX|INVALID_IMAGE)|)"
      R"(cudaErrorNoKernelImage|cudaErrorUnsupportedPtx|device kernel image is invalid|)"
      R"(forward compatibility was attempted|unsupported display driver / cuda driver|)"
      R"(detected CUDA version .* mismatches the version|sm_\d+ is not (compatible|defined|supported)|)"
      R"(requires? (a )?(newer|CUDA) .{0,30}driver|compiled with CUDA .{0,40}(but|while|however)|)"
      R"((CUDNN|CUBLAS)_STATUS_(ARCH|VERSION)_MISMATCH|Loaded runtime CuDNN library.*but source was compiled|)"
      R"(GPU .{0,60}compute capability .{0,60}(not supported|too low|minimum)|)"
      R"(PTX (JIT|was compiled)|CUDA driver .{0,40}(too old|older than)|)"
      R"(cuDNN version (incompatib|mismatch)|only supports? [\w ]{1,30} GPUs or newer|compute capability (of )?(at least|>=)|)"
      R"(unsupported gpu architecture|CUDA error: invalid device function|is not defined for option 'gpu-name'|CUDAMismatch|NoBinaryForGpu|)"
      R"(installed CUDA version .{0,40}does not match|unable to find code object|(newer|minimum) (nvidia )?driver|)"
      R"(driver is older than|unsatisfied condition: cuda)"));
  rules.push_back(logRule(
      "cuda-init", kCudaInitFailed, kCause, 82,
      R"((?i)no CUDA-capable device|No CUDA GPUs are available|Found no NVIDIA driver|)"
      R"((CUDA_ERROR_|cudaError)_?(NOT_INITIALIZED|NO_?DEVICE|SYSTEM_?NOT_?READY|INITIALIZATION|DEVICES?_?UNAVAILABLE|INVALID_DEVICE)|)"
      R"(Failed to initialize NVML|NVML.{0,40}(initiali[sz]|Driver Not Loaded|mismatch)|Driver/library version mismatch|)"
      R"(CUDA unknown error|busy or unavailable|CUDA(_| )error: initialization error|system not yet initialized|)"
      R"(CUDA (driver )?initiali[sz]ation (failed|failure|error)|cuda(Get|Set)Device(Count)?\(?\)?.{0,30}(fail|error)|)"
      R"(invalid device ordinal|No (visible )?GPU devices? (found|detected|available)|)"
      R"(no (supported|usable|available) (gpu|cuda|devices?\b)|no ROCm-capable device|no (HIP|ROCm) (GPUs|devices)|)"
      R"(torch\.cuda\.is_available\(\) (is|returned|==) False|runtime error \(\d+\) ?: ?initialization error|)"
      R"(No visible (GPU|CUDA) devices|Unable to initialize backend '(cuda|gpu)')"));
  rules.push_back(logRule(
      "no-device", kCudaInitFailed, kCause, 66,
      R"((?i)^((\w+\.)*\w+(Error|Exception)|error|fatal)\b.{0,80}(CUDA (is )?(not available|unavailable)|no (nvidia )?GPUs? (was |were |is |are )?(found|available|detected)|)"
      R"(GPU (is )?not (found|available|detected)|(GPU|CUDA)( device)? (is )?required|no platforms that are instances of (gpu|cuda)))"));
  // TensorFlow logs this on every node without a GPU as well.
  rules.push_back(logRule("cuda-init-call", kCudaInitFailed, kSymptom, 45, R"(failed call to cuInit)"));
  rules.push_back(logRule(
      "device-assert", kUserCodeError, kCause, 79,
      R"(device-side assert|(\.cu|\.cuh):\d+: .*Assertion `.*` failed|)"
      R"(Assertion `.{0,80}(index|srcIndex|target|t >= 0|n_classes|label|input_val).{0,80}` failed)"));
  rules.push_back(logRule(
      "cuda-fault", kCudaError, kCause, 68,
      R"((?i)illegal memory access|cudnn[_ ]frontend|no execution plans support|unspecified launch failure|misaligned address|)"
      R"(illegal instruction was encountered|launch timed out and was terminated|)"
      R"(CUDA_ERROR_(LAUNCH|ILLEGAL|UNKNOWN|MISALIGNED|ASSERT|INVALID)|)"
      R"(CU(BLAS|DNN|SOLVER|SPARSE|RAND|FFT)_(STATUS_)?(EXECUTION|INTERNAL|NOT_INITIALIZED|MAPPING|EXEC|LAUNCH|NOT_SUPPORTED|BAD|INVALID))"));
  // The same message about a configuration is a mistake of the program.
  rules.push_back(logRule("cuda-argument", kCudaError, kCause, 78,
                          R"((CUDA|HIP) error: invalid (configuration|argument|value|resource))"));
  rules.push_back(logRule(
      "cuda-error", kCudaError, kCause, 62,
      R"(\bCUDA error\b|CUDA runtime error|cuda runtime error|CUDA_ERROR_[A-Z_]+|cudaError[A-Z]\w+|)"
      R"(HIP error|hipError[A-Z]\w+|CU(BLAS|DNN|SOLVER|SPARSE|RAND)_STATUS_[A-Z_]+|Cuda failure|)"
      R"(CUDA kernel (launch )?(failed|error)|(?i:cu(DNN|BLAS|FFT|SOLVER|SPARSE|RAND)(lt)? (error|failure))|CUDA Error|)"
      R"(Blas \w+ launch failed|cuDNN launch failure|Failed to get convolution algorithm|unable to find an engine to execute|)"
      R"(Memory access fault by GPU|HSA_STATUS_ERROR|[Ff]ailed to launch CUDA kernel|(?i:miopen\w* (error|status)))"));
}

}  // namespace

void addGpuRules(Rules& rules) {
  addMemory(rules);
  addDevices(rules);
}

}  // namespace trainyard::core
