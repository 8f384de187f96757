package podlife

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// Identifiers are derived, not drawn, so that a repeated step names the same container.

func containerID(pod types.UID, name string, restart int32) string {
	sum := sha256.Sum256([]byte(string(pod) + "/" + name + "/" + strconv.Itoa(int(restart))))
	return "simulated://" + hex.EncodeToString(sum[:])
}

func imageID(image string) string {
	sum := sha256.Sum256([]byte(image))
	return "simulated@sha256:" + hex.EncodeToString(sum[:])
}
