import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keepServer } from '../test/keeper.ts'
import { freePort, waitFor } from '../test/ready.ts'
import { build, peersFolder, type Peer } from './peer.ts'

const version = 'v0.158.0'
const folder = join(peersFolder, `collector-${version}`)
const program = join(folder, 'out/gatehouse-peer')
const contrib = 'github.com/open-telemetry/opentelemetry-collector-contrib'

const manifest = `
dist: { name: gatehouse-peer, output_path: ./out }
extensions:
  - gomod: ${contrib}/extension/ackextension ${version}
receivers:
  - gomod: ${contrib}/receiver/splunkhecreceiver ${version}
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver ${version}
exporters:
  - gomod: ${contrib}/exporter/fileexporter ${version}
`

const settings = (hecPort: number, otlpPort: number): string => `
extensions: { ack: {} }
receivers:
  splunk_hec:
    endpoint: 127.0.0.1:${hecPort}
    ack: { extension: ack }
  otlp: { protocols: { http: { endpoint: 127.0.0.1:${otlpPort} } } }
exporters:
  file: { path: ./received.json, flush_interval: 100ms }
service:
  extensions: [ack]
  telemetry: { metrics: { level: none } }
  pipelines: { logs: { receivers: [splunk_hec, otlp], exporters: [file] } }
`

/** OpenTelemetry's collector, built by Go with the parts that are asked for: the event collector with acknowledgements, and OTLP. */
export const collector: Peer = {
  name: 'OpenTelemetry Collector',
  shows: 'splunk_hec, otlp_logs',
  variable: 'PEER_COLLECTOR_URLS',
  prepare() {
    if (existsSync(program)) return
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'manifest.yaml'), manifest)
    // Mirrors of the module proxy may lack the checksums of these.
    const env = { GOBIN: folder, GONOSUMDB: 'github.com/open-telemetry/*' }
    build('go', ['install', `go.opentelemetry.io/collector/cmd/builder@${version}`], { env })
    build(join(folder, 'builder'), ['--config', 'manifest.yaml'], { cwd: folder, env })
  },
  async start() {
    const [hecPort, otlpPort] = [await freePort(), await freePort()]
    const server = keepServer({
      name: 'collector',
      files: { 'settings.yaml': settings(hecPort, otlpPort) },
      command: [program, '--config', 'settings.yaml'],
      stopSignal: 'KILL',
    })
    const [hec, otlp] = [`http://127.0.0.1:${hecPort}`, `http://127.0.0.1:${otlpPort}`]
    await waitFor('OpenTelemetry Collector', server, async () => {
      const answer = await fetch(`${hec}/services/collector/health`)
      if (!answer.ok) throw new Error(`it answered ${answer.status}`)
    })
    return { url: `${hec} ${otlp}`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  },
}
