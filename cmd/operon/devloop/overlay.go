package devloop

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// webhookPort is the variable by which a manager that was built with the overlay is told where to serve its webhooks.
const webhookPort = "OPERON_RUN_WEBHOOK_PORT"

// addedFile is what the overlay adds to the manager's main package, for a library and the name of that variable. No flag of the field's
// scaffolds says where webhooks are served, but both libraries have a Go variable for it. A port that a person's code names still wins.
const addedFile = `package main

import (
	"os"
	"strconv"

	"%s/pkg/webhook"
)

func init() {
	if port, err := strconv.Atoi(os.Getenv("%s")); err == nil {
		webhook.DefaultPort = port
	}
}
`

// writeOverlay writes, into the directory temp, an overlay for "go build" that adds a file to the package in dir, which is on the library of
// that import path, and returns the overlay's path. The project itself is not touched.
func writeOverlay(temp, dir, library string) (string, error) {
	added := filepath.Join(temp, "webhookport.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(dir, "zz_operon_run.go"): added}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(temp, "overlay.json")
	return path, errors.Join(
		os.WriteFile(added, fmt.Appendf(nil, addedFile, library, webhookPort), 0o600),
		os.WriteFile(path, overlay, 0o600),
	)
}
