// What `npm run test:peers` runs: the sinks against third-party receivers, the API against a third-party tester, the chart with
// Helm, and the cluster of the compose file. They are downloaded and built from the package registries. A peer that is not available is listed with the reason. The first run takes long, because it builds them.
import { globSync } from 'node:fs'
import { collector } from './peers/collector.ts'
import { helm } from './peers/helm.ts'
import { moto } from './peers/moto.ts'
import { openSearch } from './peers/opensearch.ts'
import type { Peer } from './peers/peer.ts'
import { azureContract } from './peers/prism.ts'
import { schemathesis } from './peers/schemathesis.ts'
import { topology } from './peers/topology.ts'
import { versity } from './peers/versity.ts'
import { runTests } from './test/run.ts'

const peers: readonly Peer[] = [versity, moto, openSearch, collector, azureContract, schemathesis, helm, topology]

/** Lists the missing peers with the reason. Each sink is also tested without peers by `src/adapters/sinks/<sink>.test.ts`. */
const unavailable = [
  'Splunk, Datadog and Azure Monitor themselves: not available, because they need accounts',
  'Ceph radosgw: not run, because its four daemons would test no more of s3 than Versity and Moto',
]

const log = (line: string): void => void process.stderr.write(`gatehouse: ${line}\n`)
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort())

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  await using started = new AsyncDisposableStack()
  const environment: Record<string, string> = {}
  const report: string[] = []
  for (const peer of peers.filter(({ name }) => isSelected(name, words))) {
    const outcome = await startPeer(peer, started)
    if ('url' in outcome) environment[peer.variable] = outcome.url
    report.push(
      `${peer.name}: ${'url' in outcome ? `run, for ${peer.tests}` : `not available, because ${outcome.reason}`}`,
    )
  }
  const files = globSync('test/peers/*.peer.ts').sort()
  const { isSuccess, skipped } = await runTests({ files, environment, signal: interrupted.signal })
  for (const line of [...report, ...unavailable]) log(line)
  for (const line of skipped) log(`skipped: ${line}`)
  return isSuccess ? 0 : 1
}

async function startPeer(peer: Peer, started: AsyncDisposableStack): Promise<{ url: string } | { reason: string }> {
  try {
    log(`${peer.name}: downloading and building if necessary`)
    peer.prepare()
    return { url: started.use(await peer.start()).url }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

function isSelected(name: string, words: readonly string[]): boolean {
  return words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase()))
}
