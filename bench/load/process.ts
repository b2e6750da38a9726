import { readdirSync, readFileSync } from 'node:fs'

/** What the kernel counts of a process, by thread. */
export type ProcessReading = ReadonlyMap<string, ThreadReading>

type ThreadReading = ThreadUse & { readonly name: string }

export type ThreadUse = {
  /** Time on a core. */
  readonly cpuMicros: number
  /** Time in which the thread was ready and waited for a core. */
  readonly queuedMicros: number
  /** How often it went to sleep. */
  readonly sleeps: number
  /** How often it lost its core to another thread. */
  readonly preemptions: number
}

export function readProcess(pid: number): ProcessReading {
  const folder = `/proc/${pid}/task`
  return new Map(
    readdirSync(folder).flatMap((id) => {
      try {
        return [[id, readThread(`${folder}/${id}`, id === String(pid))] as const]
      } catch {
        return [] // the thread has ended
      }
    }),
  )
}

/** The memory of the process that is in RAM. */
export const readResidentKb = (pid: number): number => numberIn(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS')

function readThread(folder: string, isMain: boolean): ThreadReading {
  const [cpuNanos = 0, queuedNanos = 0] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ').map(Number)
  const status = readFileSync(`${folder}/status`, 'utf8')
  return {
    name: isMain ? 'main' : kindOf(readFileSync(`${folder}/comm`, 'utf8').trim()),
    cpuMicros: cpuNanos / 1000,
    queuedMicros: queuedNanos / 1000,
    sleeps: numberIn(status, 'voluntary_ctxt_switches'),
    preemptions: numberIn(status, 'nonvoluntary_ctxt_switches'),
  }
}

const numberIn = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])

/** Threads of V8 compile and collect garbage. */
function kindOf(name: string): string {
  if (name.includes('V8Worker')) return 'V8'
  if (name.includes('libuv')) return 'libuv'
  return name
}

/** The use between two readings, by kind of thread. */
export function useBetween(before: ProcessReading, after: ProcessReading): Record<string, ThreadUse> {
  const kinds: Record<string, ThreadUse> = {}
  for (const [id, thread] of after) {
    const start = before.get(id)
    const sum = kinds[thread.name]
    const grown = (field: keyof ThreadUse): number => thread[field] - (start?.[field] ?? 0) + (sum?.[field] ?? 0)
    kinds[thread.name] = {
      cpuMicros: grown('cpuMicros'),
      queuedMicros: grown('queuedMicros'),
      sleeps: grown('sleeps'),
      preemptions: grown('preemptions'),
    }
  }
  return kinds
}

export const totalMicros = (use: Readonly<Record<string, ThreadUse>>): number =>
  Object.values(use).reduce((sum, { cpuMicros }) => sum + cpuMicros, 0)
