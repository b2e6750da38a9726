import { apiPath } from '../../app/client/api-client.ts'
import type { JudgeFileEntry } from '../../app/client/resource-files.ts'
import type { JudgeBody } from '../../http/admin/judges/schema.ts'
import { judgesPath } from '../judges.ts'
import { leafDifferences } from '../leaf-diff.ts'
import type { Located } from './files.ts'
import { actionOf, matchOf, ownerDifference, reportDuplicates, type Planning, type Step } from './step.ts'

/** Judges by name. A change is a new version; what is active is not decided by files, because a calibration has to say it. */
export function planJudges(planning: Planning): Step[] {
  const { judges } = planning.resources
  const [first] = judges
  if (first && planning.state.judgesProblem !== undefined)
    planning.report(first, { path: [], message: planning.state.judgesProblem })
  const planned = judges.map((entry) => ({ entry, step: planJudge(planning, entry) }))
  reportDuplicates(
    planning,
    planned.map(({ entry, step: { id, name } }) => ({ entry, id, name: [name] })),
  )
  return planned.map(({ step }) => step)
}

function planJudge(planning: Planning, entry: Located<JudgeFileEntry>): Step {
  const { name } = entry.value
  const current = matchOf(planning, entry, {
    kind: 'judge',
    all: planning.state.judges,
    entries: planning.resources.judges,
    named: (candidates) => candidates.filter((each) => each.name === name),
  })
  const wanted = completedJudge(entry.value)
  const others = leafDifferences(current ? judgeEntry(current) : {}, wanted)
  const differences = [...others, ...ownerDifference(planning, entry, { current, others })]
  const run: Step['run'] = async (client) => {
    if (!current) return client.post<{ id: string }>(judgesPath, wanted)
    const body = { revision: current.revision, ...wanted }
    await client.request('PATCH', apiPath`/v1/organization/judges/${current.id}`, { body })
    return { id: current.id }
  }
  return { kind: 'judge', name, id: current?.id, action: actionOf(current, differences), differences, run }
}

const defaultParameters = { temperature: 0, max_output_tokens: 128 }

type JudgeSettings = Required<Omit<JudgeFileEntry, 'id'>>

/** The entry with the defaults of the service. */
const completedJudge = ({ id: _, ...entry }: JudgeFileEntry): JudgeSettings => ({
  prompt: { template: null },
  timeout_ms: 5_000,
  fail: 'closed',
  max_usd_per_day: 10,
  ...entry,
  parameters: { ...defaultParameters, ...entry.parameters },
})

/** What files have of a judge: the content of its newest version. */
const judgeEntry = (judge: JudgeBody): JudgeSettings => ({
  name: judge.name,
  model: judge.model,
  prompt: { template: judge.prompt.template },
  parameters: judge.parameters,
  timeout_ms: judge.timeout_ms,
  fail: judge.fail,
  max_usd_per_day: judge.max_usd_per_day,
})

/** For an export. Fields with their default are left out. */
export function exportedJudge(judge: JudgeBody): JudgeFileEntry {
  const { name, model, ...settings } = judgeEntry(judge)
  const { name: _, model: __, ...defaults } = completedJudge({ name, model })
  const changed = Object.entries(settings).filter(
    ([field, value]) =>
      JSON.stringify(value) !== JSON.stringify(Object.entries(defaults).find(([each]) => each === field)?.[1]),
  )
  return { name, model, ...Object.fromEntries(changed) }
}
