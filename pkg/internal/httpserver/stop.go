package httpserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// goodbyes is the time between two rounds of telling HTTP/2 clients that the server ends.
const goodbyes = 500 * time.Millisecond

// Stop closes the listeners of server, lets the requests under way end, and
// closes the connections. Requests that are still under way when ctx is done
// are cut off, which is the error.
//
// [http.Server.Shutdown] tells the HTTP/2 connections of its first moment to
// go away. One that is in the middle of its TLS handshake then is not told,
// and Shutdown waits for it until the client closes it (https://go.dev/issue/39776
// is why such a connection counts as active). So it is called again and again, and
// with it what was registered by RegisterOnShutdown.
func Stop(ctx context.Context, server *http.Server) error {
	for {
		round, cancel := context.WithTimeout(ctx, goodbyes)
		err := server.Shutdown(round)
		ended := round.Err() == nil
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return errors.Join(fmt.Errorf("requests were cut off: %w", ctx.Err()), server.Close())
		case ended:
			return err // not the end of the round: a listener that could not be closed
		}
	}
}
