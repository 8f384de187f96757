package envtest

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// DefaultBinaryAssetsIndexURL is where the index of downloads is, unless an
// [Environment] says otherwise.
var DefaultBinaryAssetsIndexURL = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml"

// SetupEnvtestDefaultBinaryAssetsDirectory returns the directory in which
// setup-envtest keeps what it downloads: %LocalAppData%\kubebuilder-envtest on
// Windows, ~/Library/Application Support/io.kubebuilder.envtest on macOS, and
// kubebuilder-envtest in $XDG_DATA_HOME or ~/.local/share elsewhere. The error
// says what is not set.
func SetupEnvtestDefaultBinaryAssetsDirectory() (string, error) {
	if runtime.GOOS == "windows" {
		base := os.Getenv("LocalAppData")
		if base == "" {
			return "", errors.New("%LocalAppData% is not set: set it, or name a directory")
		}
		return filepath.Join(base, "kubebuilder-envtest"), nil
	}
	base := ""
	if runtime.GOOS != "darwin" {
		base = os.Getenv("XDG_DATA_HOME")
	}
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		if runtime.GOOS == "darwin" {
			return filepath.Join(home, "Library", "Application Support", "io.kubebuilder.envtest"), nil
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "kubebuilder-envtest"), nil
}
