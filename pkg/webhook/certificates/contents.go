package certificates

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The keys of the Secret. The first two are those of Kubernetes' own type for
// TLS, and the third is where cert-manager has it, so that other programs can use the Secret, too.
const (
	keyCert      = corev1.TLSCertKey       // what is served
	keyCertKey   = corev1.TLSPrivateKeyKey // its key
	keyTrusted   = "ca.crt"                // all trusted authorities, the signing one first
	keySigner    = "ca.key"                // the key of the signing one
	keyNext      = "next-ca.crt"           // the authority that is to sign next
	keyNextKey   = "next-ca.key"           // its key
	keyNextKnown = "next-ca.known-since"   // when it was found in all client configurations
)

// contents is what the Secret holds, or what it should.
type contents map[string][]byte

// outlook is what contents mean at a moment.
type outlook struct {
	serving *tls.Certificate // nil when there is none that is valid
	flaw    error            // why there is none

	signer  *authority          // nil when there is none that is valid
	next    *authority          // nil unless the authority is being replaced
	known   time.Time           // since when next is trusted everywhere, or zero
	trusted []*x509.Certificate // without next
}

// bundle is what client configurations should trust. The oldest comes first:
// which of them signs makes no difference there.
func (o *outlook) bundle() []byte {
	certs := slices.Clone(o.trusted)
	if o.next != nil {
		certs = append(certs, o.next.cert)
	}
	slices.SortFunc(certs, func(a, b *x509.Certificate) int {
		return cmp.Or(a.NotBefore.Compare(b.NotBefore), bytes.Compare(a.Raw, b.Raw))
	})
	return encodeBundle(certs)
}

// read makes out what the contents mean. What cannot be used is left out.
func (c contents) read(now time.Time, options Options) *outlook {
	o := &outlook{}
	for _, cert := range parseBundle(c[keyTrusted]) {
		if cert.IsCA && now.Before(cert.NotAfter) {
			o.trusted = append(o.trusted, cert)
		}
	}
	if signer, err := parseAuthority(c[keyTrusted], c[keySigner]); err == nil && now.Before(signer.cert.NotAfter) {
		o.signer = signer
	}
	if next, err := parseAuthority(c[keyNext], c[keyNextKey]); err == nil && now.Before(due(next.cert)) {
		o.next = next
		if known, err := time.Parse(time.RFC3339Nano, string(c[keyNextKnown])); err == nil {
			o.known = known
		}
	}
	names, addresses := options.names()
	o.serving, o.flaw = parseLeaf(c[keyCert], c[keyCertKey], o.trusted, now, names, addresses)
	return o
}

// advance returns what the Secret should hold now, and when it is to be looked
// at again. It makes one step: inPlace says whether the bundle of the contents as they are is in all client configurations.
func (c contents) advance(now time.Time, options Options, inPlace bool) (after contents, again time.Time, err error) {
	o := c.read(now, options)
	switch {
	case o.signer == nil && o.serving == nil:
		// Nothing is served, so there is nothing to wait for.
		signer := o.next
		if signer == nil {
			if signer, err = newAuthority(now, options.CAValidity); err != nil {
				return nil, now, err
			}
		}
		return c.signedBy(signer, o, now, options)

	case o.next == nil && (o.signer == nil || !now.Before(due(o.signer.cert))):
		next, err := newAuthority(now, options.CAValidity)
		if err != nil {
			return nil, now, err
		}
		after = maps.Clone(c)
		after[keyTrusted] = encodeBundle(o.trusted)
		after[keyNext], after[keyNextKey] = next.certPEM, next.keyPEM
		delete(after, keyNextKnown)
		return after, now, nil

	case o.next != nil && o.known.IsZero() && inPlace:
		after = maps.Clone(c)
		after[keyNextKnown] = []byte(now.UTC().Format(time.RFC3339Nano))
		return after, now.Add(options.Propagation), nil

	case o.next != nil && !o.known.IsZero() && !now.Before(o.known.Add(options.Propagation)) && inPlace:
		return c.signedBy(o.next, o, now, options)

	case o.signer != nil && (o.serving == nil || !now.Before(due(o.serving.Leaf))):
		return c.signedBy(o.signer, o, now, options)
	}
	return c, o.nextLook(now, options), nil
}

// withoutAuthority returns contents that serve the same certificate, but whose authority is gone, so that the next step makes another
// one. All that was trusted is trusted on, the authority that was to sign next as well: another replica may serve what it has signed meanwhile.
func (c contents) withoutAuthority() contents {
	after := maps.Clone(c)
	after[keyTrusted] = encodeBundle(append(parseBundle(c[keyTrusted]), parseBundle(c[keyNext])...))
	for _, key := range []string{keySigner, keyNext, keyNextKey, keyNextKnown} {
		delete(after, key)
	}
	return after
}

// nextLook is when time alone will have changed something.
func (o *outlook) nextLook(now time.Time, options Options) time.Time {
	next := now.Add(maxWait)
	at := func(t time.Time) {
		// What is overdue waits for something else than time.
		if t.After(now) {
			next = earlier(next, t)
		}
	}
	if o.serving != nil {
		at(due(o.serving.Leaf))
		at(o.serving.Leaf.NotAfter)
	}
	if o.signer != nil {
		at(due(o.signer.cert))
	}
	if o.next != nil {
		at(due(o.next.cert))
		if !o.known.IsZero() {
			at(o.known.Add(options.Propagation))
		}
	}
	for _, cert := range o.trusted {
		at(cert.NotAfter)
	}
	return next
}

// signedBy returns the contents with a serving certificate that the authority
// has newly signed. The other authorities stay trusted: somebody may still serve what they have signed.
func (c contents) signedBy(a *authority, o *outlook, now time.Time, options Options) (contents, time.Time, error) {
	names, addresses := options.names()
	cert, key, err := a.newLeaf(now, options.Validity, names, addresses)
	if err != nil {
		return nil, now, fmt.Errorf("serving certificate: %w", err)
	}
	trusted := []*x509.Certificate{a.cert}
	for _, other := range o.trusted {
		if !other.Equal(a.cert) {
			trusted = append(trusted, other)
		}
	}
	after := maps.Clone(c)
	if after == nil {
		after = contents{}
	}
	after[keyTrusted], after[keySigner] = encodeBundle(trusted), a.keyPEM
	after[keyCert], after[keyCertKey] = cert, key
	if o.next == nil || bytes.Equal(o.next.certPEM, a.certPEM) {
		delete(after, keyNext)
		delete(after, keyNextKey)
		delete(after, keyNextKnown)
	}
	return after, after.read(now, options).nextLook(now, options), nil
}
