import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'

/** Starts a CPU profile or a sampling allocation profile of this thread; the returned function ends it and writes it to the file. */
export async function startProfile(kind: 'cpu' | 'heap', file: string): Promise<() => Promise<void>> {
  const session = new Session()
  session.connect()
  if (kind === 'cpu') {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 500 })
    await session.post('Profiler.start')
  } else {
    const collected = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
    await session.post('HeapProfiler.startSampling', { samplingInterval: 16_384, ...collected })
  }
  return async () => {
    const { profile } =
      kind === 'cpu' ? await session.post('Profiler.stop') : await session.post('HeapProfiler.stopSampling')
    writeFileSync(file, JSON.stringify(profile))
    session.disconnect()
  }
}
