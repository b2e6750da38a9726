import { monotonicMs } from './monotonic.ts'
import { quantilesOf } from './quantiles.ts'

type Arrival = readonly [characters: number, atMs: number]
type Sent = Readonly<Record<string, readonly (readonly [endsAt: number, sentMs: number])[]>>

/**
 * The delay of each chunk of paced answers: from when the upstream sent it until its last character arrived here. Both processes read
 * the same clock, and texts are compared by length, so that nothing has to be written into them.
 */
export function createDelays(upstreamPort: number) {
  const arrivals = new Map<number, Arrival[]>()
  let startMs = Number.POSITIVE_INFINITY

  return {
    arrived(number: number, characters: number): void {
      const own = arrivals.get(number) ?? []
      if (own.length === 0) arrivals.set(number, own)
      if (own.at(-1)?.[0] !== characters) own.push([characters, monotonicMs()])
    },
    start(): void {
      startMs = monotonicMs()
    },
    /** Of the chunks that arrived between the start and now. */
    async end(): Promise<{ chunks: number; chunkP50Ms: number; chunkP99Ms: number }> {
      const endMs = monotonicMs()
      const sent = (await (await fetch(`http://127.0.0.1:${upstreamPort}/sent`)).json()) as Sent
      const all = Object.entries(sent).flatMap(([number, chunks]) => {
        const own = arrivals.get(Number(number)) ?? []
        let at = 0
        return chunks.flatMap(([endsAt, sentMs]) => {
          while ((own[at]?.[0] ?? Number.POSITIVE_INFINITY) < endsAt) at++
          const atMs = own[at]?.[1]
          return atMs === undefined || atMs < startMs || atMs > endMs ? [] : [atMs - sentMs]
        })
      })
      const { p50Ms, p99Ms } = quantilesOf(all)
      return { chunks: all.length, chunkP50Ms: p50Ms, chunkP99Ms: p99Ms }
    },
  }
}
