package manager

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/operon-dev/operon/pkg/webhook"
	"github.com/operon-dev/operon/pkg/webhook/certificates"
	"github.com/operon-dev/operon/pkg/webhook/conversion"
)

// GetWebhookServer implements Manager.
func (m *manager) GetWebhookServer() webhook.Server {
	m.addWebhooks.Do(func() {
		if err := m.Add(m.options.WebhookServer); err != nil {
			m.logger.Error(err, "the webhook server does not run")
		}
	})
	return m.options.WebhookServer
}

// GetConverterRegistry implements Manager.
func (m *manager) GetConverterRegistry() conversion.Registry { return m.converters }

// setUpCertificates has the webhook server serve the manager's own certificates, if there are to be any.
func (m *manager) setUpCertificates() error {
	if m.options.WebhookCertificates == nil {
		return nil
	}
	server, ok := m.options.WebhookServer.(*webhook.DefaultServer)
	if !ok {
		return fmt.Errorf("WebhookCertificates needs a WebhookServer that webhook.NewServer has made, not a %T", m.options.WebhookServer)
	}
	keeper, err := certificates.New(m.GetConfig(), m.GetHTTPClient(), *m.options.WebhookCertificates)
	if err != nil {
		return err
	}
	m.certificates = keeper
	server.Options.TLSOpts = append(server.Options.TLSOpts[:len(server.Options.TLSOpts):len(server.Options.TLSOpts)], func(c *tls.Config) {
		if c.GetCertificate == nil {
			c.GetCertificate = keeper.GetCertificate
		}
	})
	return nil
}

// startedInterval is the pause between two looks at a server that only tells when it is asked.
const startedInterval = 10 * time.Millisecond

// webhookStarted waits until webhooks are served, or ctx is done.
func webhookStarted(ctx context.Context, member Runnable) error {
	if s, ok := member.(starting); ok {
		return wait(ctx, s)
	}
	server, ok := member.(webhook.Server)
	if !ok {
		return nil
	}
	check := server.StartedChecker()
	for check(nil) != nil {
		select {
		case <-time.After(startedInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
