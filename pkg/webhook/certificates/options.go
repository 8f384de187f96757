package certificates

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	defaultCAValidity  = 365 * 24 * time.Hour
	defaultValidity    = 90 * 24 * time.Hour
	defaultPropagation = time.Minute

	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
)

// Options set up a Keeper. Either Service or Hosts must be set.
type Options struct {
	// Service is the Service through which API servers reach the webhooks. The
	// certificate is valid for its names in the cluster, and its client
	// configurations get the bundle. An empty namespace means the one of the pod the process runs in.
	Service types.NamespacedName

	// Hosts are further names or addresses under which API servers reach the
	// webhooks by URL, with a port or without: "127.0.0.1:9443". The
	// certificate is valid for them, and client configurations whose URL has
	// one of these hosts get the bundle; one with a port only for that port.
	Hosts []string

	// Secret holds the certificates. An empty name means that of the Service,
	// or "webhook", with "-certificates" appended; an empty namespace the one of the Service.
	Secret types.NamespacedName

	// CAValidity is how long an authority is valid. It is replaced after two thirds of it. Zero means one year.
	CAValidity time.Duration

	// Validity is how long a serving certificate is valid, though not longer than
	// its authority. It is replaced after two thirds of it. Zero means 90 days.
	Validity time.Duration

	// Propagation is how long API servers are given to take notice of a
	// changed bundle before they see a certificate that needs it. It has to be longer than any
	// request to them takes that calls a webhook, as such a request goes on with the bundle it began with, and at
	// most a sixth of CAValidity. Zero means one minute.
	Propagation time.Duration
}

// complete returns the options with the defaults filled in, or what is wrong with them.
func (o Options) complete() (Options, error) {
	if o.Service.Name == "" && len(o.Hosts) == 0 {
		return o, errors.New("webhook certificates: neither Service nor Hosts say how API servers reach the webhooks")
	}
	if o.Service.Name != "" && o.Service.Namespace == "" {
		o.Service.Namespace = o.Secret.Namespace
	}
	if o.Secret.Namespace == "" {
		o.Secret.Namespace = o.Service.Namespace
	}
	if o.Secret.Namespace == "" {
		namespace, err := os.ReadFile(namespaceFile)
		if err != nil {
			return o, fmt.Errorf("webhook certificates: no namespace for the Secret: set Secret.Namespace when not running in a pod: %w", err)
		}
		o.Secret.Namespace = strings.TrimSpace(string(namespace))
	}
	if o.Service.Name != "" && o.Service.Namespace == "" {
		o.Service.Namespace = o.Secret.Namespace
	}
	if o.Secret.Name == "" {
		name := o.Service.Name
		if name == "" {
			name = "webhook"
		}
		o.Secret.Name = name + "-certificates"
	}
	for _, d := range []struct {
		name      string
		value     *time.Duration
		otherwise time.Duration
	}{
		{"CAValidity", &o.CAValidity, defaultCAValidity},
		{"Validity", &o.Validity, defaultValidity},
		{"Propagation", &o.Propagation, defaultPropagation},
	} {
		if *d.value < 0 {
			return o, fmt.Errorf("webhook certificates: %s is negative", d.name)
		}
		if *d.value == 0 {
			*d.value = d.otherwise
		}
	}
	// The authority is replaced in the last third of its life; half of that is for what may go wrong.
	if o.Propagation > o.CAValidity/6 {
		return o, fmt.Errorf("webhook certificates: Propagation (%s) must be at most a sixth of CAValidity (%s): the next authority has to be known well before the last expires",
			o.Propagation, o.CAValidity)
	}
	return o, nil
}

// names returns the DNS names and IP addresses that a serving certificate is valid for.
func (o Options) names() (names []string, addresses []net.IP) {
	if o.Service.Name != "" {
		short := o.Service.Name + "." + o.Service.Namespace
		names = append(names, short+".svc", short+".svc.cluster.local", short, o.Service.Name)
	}
	for _, host := range o.Hosts {
		host = withoutPort(host)
		if ip := net.ParseIP(host); ip != nil {
			addresses = append(addresses, ip)
		} else {
			names = append(names, host)
		}
	}
	return names, addresses
}

// reachedBy reports whether a URL's host, which may have a port, is one of Hosts.
func (o Options) reachedBy(host string) bool {
	name, port := splitPort(host)
	if port == "" {
		port = "443"
	}
	for _, own := range o.Hosts {
		ownName, ownPort := splitPort(own)
		if sameHost(name, ownName) && (ownPort == "" || ownPort == port) {
			return true
		}
	}
	return false
}

func sameHost(a, b string) bool {
	if ip := net.ParseIP(a); ip != nil {
		return ip.Equal(net.ParseIP(b))
	}
	return strings.EqualFold(a, b)
}

func withoutPort(host string) string {
	name, _ := splitPort(host)
	return name
}

// splitPort tells a host, of which the brackets of an IPv6 address are taken off, from its port.
func splitPort(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return strings.Trim(host, "[]"), ""
}
