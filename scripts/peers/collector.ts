import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownAccount } from '../test/account.ts'
import { startSupervised } from '../test/supervised-server.ts'
import { freePort, waitFor } from '../test/ready.ts'
import { build, peersFolder, type Peer } from './peer.ts'

const version = 'v0.158.0'
const contrib = 'github.com/open-telemetry/opentelemetry-collector-contrib'

const manifest = `
dist: { name: gatehouse-peer, output_path: ./out }
extensions:
  - gomod: ${contrib}/extension/ackextension ${version}
receivers:
  - gomod: ${contrib}/receiver/splunkhecreceiver ${version}
  - gomod: ${contrib}/receiver/datadogreceiver ${version}
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver ${version}
processors:
  - gomod: go.opentelemetry.io/collector/processor/memorylimiterprocessor ${version}
  - gomod: go.opentelemetry.io/collector/processor/batchprocessor ${version}
exporters:
  - gomod: ${contrib}/exporter/fileexporter ${version}
  - gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter ${version}
`

/** Another list of modules is another program. */
const modules = createHash('sha256').update(manifest).digest('hex').slice(0, 8)
const folder = join(peersFolder, `collector-${version}-${modules}`)
export const collectorProgram = join(folder, 'out/gatehouse-peer')

type Ports = { readonly hec: number; readonly otlp: number; readonly datadog: number }

const settings = (ports: Ports): string => `
extensions: { ack: {} }
receivers:
  splunk_hec:
    endpoint: 127.0.0.1:${ports.hec}
    ack: { extension: ack }
  otlp: { protocols: { http: { endpoint: 127.0.0.1:${ports.otlp} } } }
  datadog: { endpoint: 127.0.0.1:${ports.datadog} }
exporters:
  file: { path: ./received.json, flush_interval: 100ms }
  file/traces: { path: ./traces.json, flush_interval: 100ms }
service:
  extensions: [ack]
  telemetry: { metrics: { level: none } }
  pipelines:
    logs: { receivers: [splunk_hec, otlp, datadog], exporters: [file] }
    traces: { receivers: [otlp], exporters: [file/traces] }
`

/** OpenTelemetry's collector, built with Go and the receivers under test: Splunk HEC with acknowledgements, OTLP and Datadog. */
export const collector: Peer = {
  name: 'OpenTelemetry Collector',
  tests: 'splunk_hec with acknowledgements, otlp_logs, datadog_logs (it takes any key), traces',
  variable: 'PEER_COLLECTOR_URLS',
  prepare() {
    if (existsSync(collectorProgram)) return
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'manifest.yaml'), manifest)
    // Mirrors of the module proxy may lack these checksums.
    const env = { GOBIN: folder, GONOSUMDB: 'github.com/open-telemetry/*,github.com/DataDog/*' }
    build('go', ['install', `go.opentelemetry.io/collector/cmd/builder@${version}`], { env })
    build(join(folder, 'builder'), ['--config', 'manifest.yaml'], { cwd: folder, env })
  },
  async start() {
    const ports = { hec: await freePort(), otlp: await freePort(), datadog: await freePort() }
    const server = startSupervised({
      name: 'collector',
      files: { 'settings.yaml': settings(ports) },
      command: [collectorProgram, '--config', 'settings.yaml'],
      stopSignal: 'KILL',
      account: ownAccount(), // the built binary is executable only by its owner
    })
    const [hec, otlp, datadog] = [ports.hec, ports.otlp, ports.datadog].map((port) => `http://127.0.0.1:${port}`)
    await waitFor('OpenTelemetry Collector', server, async () => {
      const answer = await fetch(`${hec}/services/collector/health`)
      if (!answer.ok) throw new Error(`it answered ${answer.status}`)
    })
    const tracesFile = join(server.folder, 'traces.json')
    return {
      url: `${hec} ${otlp} ${datadog} ${tracesFile}`,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  },
}
