package webhook

import (
	"context"
	stdlog "log"
	"strings"

	"github.com/go-logr/logr"

	"github.com/operon-dev/operon/pkg/log"
)

// handshakeErrors returns a logger for what net/http has to say, which is
// mostly about TLS handshakes that failed: clients that do not trust the certificate, say, or whose own is expired.
func handshakeErrors(ctx context.Context) *stdlog.Logger {
	return stdlog.New(serverLog{log.FromContext(ctx).WithName("webhook")}, "", 0)
}

type serverLog struct {
	logger logr.Logger
}

// Write implements io.Writer.
func (l serverLog) Write(line []byte) (int, error) {
	message := strings.TrimSpace(string(line))
	if strings.HasSuffix(message, ": EOF") {
		// A port check, as load balancers and StartedChecker make them, is no news.
		l.logger.V(1).Info(message)
	} else {
		l.logger.Info(message)
	}
	return len(line), nil
}
