import { dayMs, type Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import {
  addCounts,
  binOf,
  noCounts,
  type CountedPolicy,
  type JudgeCounts,
  type JudgeCountWriter,
  type JudgeDay,
  type JudgeDifference,
  type SeenModel,
} from './counts.ts'

/** What a node counts of its judges in memory, until a job writes it. */
export type JudgeTally = {
  count(of: CountedPolicy, what: Partial<Omit<JudgeCounts, 'scores'>>): void
  /** A score that decided about a request. */
  score(of: CountedPolicy, score: number): void
  differ(difference: Omit<JudgeDifference, 'id' | 'atMs'>): void
  /** The model that an upstream says has answered. */
  saw(model: Omit<SeenModel, 'sinceMs'>): void
  /** Writes the counts, and hands over models that were not seen before. A job calls it. */
  flush(): Promise<void>
}

type TallyParts = {
  readonly writer: JudgeCountWriter
  readonly onSeen: (model: SeenModel) => Promise<void>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly ids: Ids
}

/** More are not kept while they cannot be written. The counts include them. */
const maxDifferences = 1_000
const maxKnownModels = 10_000

export function createJudgeTally({ writer, onSeen, clock, ids }: TallyParts): JudgeTally {
  let days = new Map<string, JudgeDay>()
  let differences: JudgeDifference[] = []
  const known = new Map<string, string>()
  const unseen = new Map<string, SeenModel>()
  let flushed = Promise.resolve()

  function add(of: CountedPolicy, what: Partial<JudgeCounts>): void {
    const day = Math.floor(clock.nowMs() / dayMs)
    const key = `${of.organizationId} ${of.judgeId} ${of.version} ${of.policyId} ${day}`
    const before = days.get(key) ?? { ...identityOf(of), day, ...noCounts }
    days.set(key, { ...before, ...addCounts(before, { ...noCounts, ...what }) })
  }

  async function write(): Promise<void> {
    for (const [key, model] of unseen) {
      await onSeen(model)
      if (unseen.get(key) === model) unseen.delete(key)
    }
    if (days.size === 0 && differences.length === 0) return
    const written = { days, differences }
    days = new Map()
    differences = []
    try {
      await writer.add([...written.days.values()], written.differences)
    } catch (error) {
      // Nothing was written: it is counted again with what came in the meantime.
      for (const one of written.days.values()) restore(one)
      differences = [...written.differences, ...differences].slice(0, maxDifferences)
      throw error
    }
  }

  function restore(one: JudgeDay): void {
    const key = `${one.organizationId} ${one.judgeId} ${one.version} ${one.policyId} ${one.day}`
    const since = days.get(key)
    days.set(key, since === undefined ? one : { ...one, ...addCounts(one, since) })
  }

  return {
    count: add,
    score(of, score) {
      const bin = binOf(score)
      add(of, { scores: noCounts.scores.map((_, at) => (at === bin ? 1 : 0)) })
    },
    differ(difference) {
      if (differences.length < maxDifferences) differences.push({ ...difference, id: ids('dif'), atMs: clock.nowMs() })
    },
    saw(model) {
      const key = `${model.organizationId} ${model.judgeId} ${model.version} ${model.upstream}`
      if (known.get(key) === model.model) return
      if (known.size >= maxKnownModels) known.clear()
      known.set(key, model.model)
      unseen.set(key, { ...model, sinceMs: clock.nowMs() })
    },
    flush() {
      const next = flushed.then(write)
      flushed = next.catch(() => undefined) // the caller gets the error
      return next
    },
  }
}

const identityOf = ({ organizationId, judgeId, version, policyId }: CountedPolicy): CountedPolicy => ({
  organizationId,
  judgeId,
  version,
  policyId,
})
