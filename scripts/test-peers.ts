// What `npm run test:peers` runs: the sinks against receivers that others made, fetched and built where the machine's
// registries have them. A peer that cannot be had is named, with the reason. The first run takes long: it builds.
import { globSync } from 'node:fs'
import { collector } from './peers/collector.ts'
import { openSearch } from './peers/opensearch.ts'
import type { Peer } from './peers/peer.ts'
import { versity } from './peers/versity.ts'
import { runTests } from './test/run.ts'

/** Nobody offers these where accounts are not at hand; their rules are held by `src/adapters/sinks/<sink>.test.ts` alone. */
const withoutPeer = [
  'Datadog (datadog_logs)',
  'Azure Monitor (azure_monitor)',
  'Splunk itself (splunk_hec: the collector stands in)',
]

const say = (line: string): void => void process.stderr.write(`gatehouse: ${line}\n`)
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort())

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  await using started = new AsyncDisposableStack()
  const environment: Record<string, string> = {}
  for (const peer of [versity, openSearch, collector].filter(({ name }) => isWanted(name, words))) {
    const url = await startPeer(peer, started)
    if (url !== undefined) environment[peer.variable] = url
  }
  for (const name of withoutPeer) say(`no peer for ${name}`)
  const files = globSync('test/peers/*.peer.ts').sort()
  const { isSuccess, skipped } = await runTests({ files, environment, signal: interrupted.signal })
  for (const line of skipped) say(`skipped: ${line}`)
  return isSuccess ? 0 : 1
}

async function startPeer(peer: Peer, started: AsyncDisposableStack): Promise<string | undefined> {
  try {
    say(`${peer.name}: fetched and built where needed, for ${peer.shows}`)
    peer.prepare()
    return started.use(await peer.start()).url
  } catch (error) {
    say(`${peer.name} cannot be had: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

function isWanted(name: string, words: readonly string[]): boolean {
  return words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase()))
}
