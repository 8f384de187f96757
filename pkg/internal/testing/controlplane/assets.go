package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Environment variables that say where programs are.
const (
	envOperon      = "OPERON"
	envAssets      = "KUBEBUILDER_ASSETS"
	envAssetPrefix = "TEST_ASSET_"
)

// program is a binary, and the name under which to call it.
type program struct {
	path, name string
	// operon says that the binary is the operon command, which is that program when it is called so.
	operon bool
}

// findProgram returns the program of that name: at the given path; or where
// TEST_ASSET_<NAME> says; or in the directory that KUBEBUILDER_ASSETS names, or
// else in the given directory; or else the operon command, called by that name.
func findProgram(name, path, dir string) (program, error) {
	from := "the path that was set"
	if path == "" {
		variable := envAssetPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		path, from = os.Getenv(variable), variable
	}
	if path == "" {
		if assets := os.Getenv(envAssets); assets != "" {
			path, from = filepath.Join(assets, name), envAssets
		} else if there := filepath.Join(dir, name); dir != "" && isFile(there) {
			path = there
		}
	}
	if path == "" {
		operon, err := findOperon(dir)
		return program{path: operon, name: name, operon: true}, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return program{}, err
	}
	if _, err := exec.LookPath(abs); err != nil {
		return program{}, fmt.Errorf("%s: %s says it is there (%w): correct that, or unset it to use the operon command", name, from, err)
	}
	return program{path: abs, name: name}, nil
}

// assetsDir is the directory of programs that was asked for, if any.
func assetsDir(dir string) string {
	if assets := os.Getenv(envAssets); assets != "" {
		return assets
	}
	if dir != "" && isFile(filepath.Join(dir, "kube-apiserver")) {
		return dir
	}
	return ""
}

// programsNamed says which setting names an etcd and a kube-apiserver to be
// run, or is empty. A directory that holds the operon command besides is one
// that "operon setup-envtest" made, and its programs are that command.
func programsNamed(dir string) string {
	for _, variable := range []string{envAssetPrefix + "KUBE_APISERVER", envAssetPrefix + "ETCD"} {
		if os.Getenv(variable) != "" {
			return variable
		}
	}
	assets := assetsDir(dir)
	switch {
	case assets == "" || isFile(filepath.Join(assets, "operon")):
		return ""
	case os.Getenv(envAssets) != "":
		return envAssets
	}
	return "BinaryAssetsDirectory"
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
