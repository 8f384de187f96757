package roundtrip_test

import (
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// envFailing names the test that is to fail, in the process that is made for it.
const envFailing = "OPERON_ROUNDTRIP_FAILING"

// failure runs f as a test in another process, and reports whether it failed.
func failure(t *testing.T, f func(*testing.T)) bool {
	t.Helper()
	if os.Getenv(envFailing) == t.Name() {
		f(t)
		return false
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), envFailing+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s", out)
	}
	return err != nil
}
