import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, peersFolder, type Peer } from './peer.ts'

const version = 'v3.22.0'
const folder = join(peersFolder, `helm-${version}`)
const program = join(folder, 'helm')
const schemas = join(folder, 'schemas')

/** Go modules that contain the schemas of Kubernetes and of the custom resources of the chart. Nothing of them is compiled. */
const schemaFiles: Readonly<Record<string, readonly string[]>> = {
  'k8s.io/kubernetes@v1.36.3': ['api/openapi-spec/swagger.json'],
  'sigs.k8s.io/gateway-api@v1.6.3': ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  'github.com/prometheus-operator/prometheus-operator@v0.94.1': ['servicemonitors', 'prometheusrules'].map(
    (kind) => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
  ),
}

/** Helm, built with Go, and the schemas that the rendered objects are validated with. It is a program, not a server. */
export const helm: Peer = {
  name: 'Helm with the schemas of Kubernetes',
  tests: 'the chart',
  variable: 'PEER_HELM',
  prepare() {
    mkdirSync(schemas, { recursive: true })
    if (!existsSync(program))
      build('go', ['install', `helm.sh/helm/v3/cmd/helm@${version}`], { env: { GOBIN: folder } })
    for (const [module, files] of Object.entries(schemaFiles)) copySchemas(module, files)
  },
  start: async () => ({ url: folder, [Symbol.asyncDispose]: async () => {} }),
}

function copySchemas(module: string, files: readonly string[]): void {
  const missing = files.filter((file) => !existsSync(join(schemas, basename(file))))
  if (missing.length === 0) return
  const { Dir: source } = JSON.parse(build('go', ['mod', 'download', '-json', module])) as { Dir: string }
  for (const file of missing) copyFileSync(join(source, file), join(schemas, basename(file)))
}
