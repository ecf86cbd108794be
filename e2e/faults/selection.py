"""Cases of other files, by name, as the tests of one file."""
import fnmatch


def only(cases):
    """The load_tests of a file with these cases ("test_nodes.Nodes.test_drained"), of which -k may choose."""
    def load_tests(loader, *_):
        patterns = loader.testNamePatterns or ["*"]
        chosen = [name for name in cases if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
        loader.testNamePatterns = None
        return loader.loadTestsFromNames(chosen)
    return load_tests
