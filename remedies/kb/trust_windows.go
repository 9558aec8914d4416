package kb

import "os"

// trustedInfo looks at nothing: a mode does not say on Windows who may write to a file.
func trustedInfo(string, os.FileInfo, bool, int) error { return nil }
