package apiserver

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/operon-dev/operon/cmd/operon/cluster/pki"
)

// informerResync is kube-apiserver's own period.
const informerResync = 10 * time.Minute

// addLoopback gives the server the certificate and the token with which it, and what runs beside it in the process, reaches itself.
func addLoopback(c *genericapiserver.Config) error {
	cert, key, err := pki.SelfSigned(genericapiserver.LoopbackClientServerNameOverride)
	if err != nil {
		return fmt.Errorf("loopback certificate: %w", err)
	}
	content, err := dynamiccertificates.NewStaticSNICertKeyContent("self-signed loopback", cert, key, genericapiserver.LoopbackClientServerNameOverride)
	if err != nil {
		return fmt.Errorf("loopback certificate: %w", err)
	}
	c.SecureServing.SNICerts = append([]dynamiccertificates.SNICertKeyContentProvider{content}, c.SecureServing.SNICerts...)
	c.LoopbackClientConfig, err = c.SecureServing.NewLoopbackClientConfig(string(uuid.NewUUID()), cert)
	if err != nil {
		return fmt.Errorf("loopback client: %w", err)
	}
	c.LoopbackClientConfig.ContentType = "application/vnd.kubernetes.protobuf"
	c.LoopbackClientConfig.DisableCompression = true
	// Managed fields show it.
	c.LoopbackClientConfig.UserAgent = "kube-apiserver"
	return nil
}
