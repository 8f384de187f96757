package cli

const usage = `Generate code and manifests from Go types and their +markers. The arguments are controller-gen's.

Usage:
  operon controller-gen GENERATOR[:OPTION=VALUE,...]... [paths=PACKAGES] [output:RULE]... [flags]

Examples:
  # Deep copies, CRDs, roles and webhooks of a project, in one load of its source
  operon controller-gen object crd rbac:roleName=manager-role webhook paths=./... output:crd:artifacts:config=config/crd/bases

  # CRDs alone, to standard output
  operon controller-gen crd paths=./api/... output:stdout

  # CRDs that kustomize patches afterwards, and that the API server would refuse as they are
  operon controller-gen crd paths=./api/... --allow-refused

  # The markers for CRDs, with their arguments
  operon controller-gen crd -ww

Flags:
`
