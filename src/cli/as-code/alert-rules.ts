import { apiPath } from '../../app/client/api-client.ts'
import { completedRule, type RuleFileEntry } from '../../app/client/resource-files.ts'
import type { AlertRuleBody } from '../../http/admin/alerts/rule-schema.ts'
import { alertRulesPath } from '../alerts.ts'
import { leafDifferences } from '../leaf-diff.ts'
import type { PlannedChannels } from './alert-channels.ts'
import type { Located } from './files.ts'
import type { PlannedProjects } from './projects.ts'
import { actionOf, asSet, matchOf, ownerDifference, reportDuplicates, type Planning, type Step } from './step.ts'

type References = { readonly projects: PlannedProjects; readonly channels: PlannedChannels }

export function planAlertRules(planning: Planning, references: References): Step[] {
  const planned = planning.resources.alert_rules.map((entry) => ({
    entry,
    step: planRule(planning, entry, references),
  }))
  reportDuplicates(
    planning,
    planned.map(({ entry, step: { id, name } }) => ({ entry, id, name: [name] })),
  )
  return planned.map(({ step }) => step)
}

/** The fields of a rule as files write them: channels and the project by their names. */
export const ruleFields = (rule: AlertRuleBody, channelName: (id: string) => string) => ({
  name: rule.name,
  threshold: rule.threshold,
  unit: rule.unit,
  window: rule.window,
  min_requests: rule.min_requests,
  for_minutes: rule.for_minutes,
  filter: rule.filter,
  channels: asSet(rule.channel_ids.map(channelName)),
  paused: rule.paused,
})

function planRule(planning: Planning, entry: Located<RuleFileEntry>, { projects, channels }: References): Step {
  const {
    kind,
    name,
    project: projectName,
    channels: channelNames = [],
    paused = false,
    id: _id,
    ...settings
  } = entry.value
  const current = matchOf(planning, entry, {
    kind: 'alert rule',
    all: planning.state.alertRules,
    entries: planning.resources.alert_rules,
    named: (candidates) => candidates.filter((rule) => rule.name === name),
  })
  if (current && current.kind !== kind)
    planning.report(entry, {
      path: ['kind'],
      message: `kind: cannot be changed from ${current.kind}; use another name`,
    })
  const project =
    projectName === undefined
      ? undefined
      : projects.find(entry, { path: ['project'], field: 'project', project: projectName })
  const filter = project ? { project_id: project.id ?? project.name } : settings.filter
  const meant = channelNames.map((each, at) => channels.find(entry, ['channels', at], each))
  const completed = completedRule({ kind, name, ...settings, filter: filter ?? null })
  if ('problem' in completed) planning.report(entry, completed.problem)
  const fields = 'problem' in completed ? {} : completed.settings
  const shown = asSet(meant.flatMap((channel) => (channel ? [channel.name] : [])))
  const after = { name, ...fields, channels: shown, paused }
  const others = leafDifferences(current ? ruleFields(current, channels.nameOf) : {}, after)
  const differences = [...others, ...ownerDifference(planning, entry, { current, others })]
  const run: Step['run'] = async (client) => {
    const ids = meant.flatMap((channel) => channel?.id ?? [])
    const own = { ...fields, ...(project && { filter: { project_id: project.id } }) }
    const body = { name, ...own, channel_ids: ids, paused }
    if (!current) return { id: (await client.post<AlertRuleBody>(alertRulesPath, { kind, ...body })).id }
    await client.request('PATCH', apiPath`/v1/organization/alert_rules/${current.id}`, { body })
    return { id: current.id }
  }
  return { kind: 'alert rule', name, id: current?.id, action: actionOf(current, differences), differences, run }
}
