import { setTimeout } from 'node:timers/promises'
import { apiPath, type ApiClient } from '../app/client/api-client.ts'
import type { CalibrationBody } from '../http/admin/judges/report-schema.ts'
import type { JudgeBody } from '../http/admin/judges/schema.ts'
import { readArguments, required } from './arguments.ts'
import { unknownSubcommand, UsageError, type Command, type CommandContext } from './command.ts'
import { wholeNumber } from './policies/fields.ts'
import { runOnServer, type Result } from './run-on-server.ts'
import { dateOf, tableWithOwners, table } from './table.ts'
import { readYamlFile } from './yaml-file.ts'

const options = {
  org: { type: 'string' },
  json: { type: 'boolean' },
  name: { type: 'string' },
  model: { type: 'string' },
  'prompt-file': { type: 'string' },
  'timeout-ms': { type: 'string' },
  fail: { type: 'string' },
  'max-usd-per-day': { type: 'string' },
  temperature: { type: 'string' },
  'max-output-tokens': { type: 'string' },
  version: { type: 'string' },
  revision: { type: 'string' },
  override: { type: 'string' },
  share: { type: 'string' },
  'no-wait': { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']
type Call = {
  readonly client: ApiClient
  readonly id: string
  readonly values: Values
  readonly progress: CommandContext['progress']
}

export const judgesPath = '/v1/organization/judges'
const pathOf = (id: string): string => apiPath`/v1/organization/judges/${id}`

export const judges: Command = {
  summary: 'Version, calibrate and activate the judges of rules in plain language',
  isRemote: true,
  usage: `gatehouse judges list [--json]
gatehouse judges show ID [--json]
gatehouse judges add --name NAME --model MODEL [FIELDS] [--json]
gatehouse judges set ID [--name NAME] [--model MODEL] [FIELDS] [--revision N] [--json]
gatehouse judges calibrate ID [--version N] [--no-wait] [--json]
gatehouse judges activate ID [--version N] [--override REASON] [--json]
gatehouse judges shadow ID --share BASIS_POINTS [--version N] [--json]
gatehouse judges retire|delete ID [--json]

FIELDS: --prompt-file FILE --timeout-ms N --fail closed|open --max-usd-per-day USD --temperature 0..2 --max-output-tokens N

The id file is the judge of the configuration, which can only be calibrated. FILE is YAML or JSON with the fields system and user of the
prompt, or null for the built-in one. set makes a new version, which is a draft. calibrate asks a judge about the cases of policies and the labels of appeals; it exits
with 4 if the judge could not take over. shadow asks it beside the active judge about a share of the texts of requests; 0 ends it. retire
takes it out of use. --override activates a judge that has not shown what it needs, with a reason. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id = ''] = positionals
    const work = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (!work) throw unknownSubcommand('judges', verb)
    if (verb !== 'list' && verb !== 'add') required(id, 'The id of the judge')
    return runOnServer(context, values, ({ client }) => work({ client, id, values, progress: context.progress }))
  },
}

const verbs: Readonly<Record<string, (call: Call) => Promise<Result>>> = {
  async list({ client }) {
    const response = await client.list<JudgeBody>(judgesPath)
    const rows = response.data.map((judge) => ({
      ...(judge.managed_by !== undefined && { managed_by: judge.managed_by }),
      cells: [judge.id, judge.name, judge.model, String(judge.version), judge.state, kappaText(judge)],
    }))
    return { json: response, text: tableWithOwners(['ID', 'NAME', 'MODEL', 'VERSION', 'STATE', 'KAPPA'], rows) }
  },
  show: async ({ client, id }) => resultOf(await client.get<JudgeBody>(pathOf(id))),
  async add({ client, values }) {
    required(values.name, '--name')
    required(values.model, '--model')
    return resultOf(await client.post<JudgeBody>(judgesPath, fieldsOf(values)))
  },
  async set({ client, id, values }) {
    const revision =
      values.revision === undefined
        ? (await client.get<JudgeBody>(pathOf(id))).revision
        : wholeNumber(values.revision, '--revision')
    const { body } = await client.request<JudgeBody>('PATCH', pathOf(id), { body: { revision, ...fieldsOf(values) } })
    return resultOf(body)
  },
  async calibrate({ client, id, values, progress }) {
    const path = `${pathOf(id)}/calibrations`
    let calibration = await client.post<CalibrationBody>(path, versionOf(values))
    while (calibration.status === 'running' && values['no-wait'] !== true) {
      progress?.(`${calibration.done} of ${calibration.total} answers. ${calibration.error ?? ''}`)
      await setTimeout(pollMs)
      calibration = await client.get<CalibrationBody>(`${path}/${encodeURIComponent(calibration.id)}`)
    }
    progress?.('')
    const judge = await client.get<JudgeBody>(pathOf(id))
    const isOpen = judge.conditions.some(({ met }) => !met)
    const exit = calibration.status === 'running' || !isOpen ? {} : { exitCode: 4 }
    return { json: calibration, text: calibrationText(calibration, judge), ...exit }
  },
  async activate({ client, id, values }) {
    const body = {
      ...versionOf(values),
      ...(values.override !== undefined && { override: { reason: values.override } }),
    }
    return resultOf(await client.post<JudgeBody>(`${pathOf(id)}/activate`, body))
  },
  async shadow({ client, id, values }) {
    const share = wholeNumber(required(values.share, '--share'), '--share')
    const body = { ...versionOf(values), share_bp: share }
    return resultOf(await client.post<JudgeBody>(`${pathOf(id)}/shadow`, body))
  },
  retire: async ({ client, id }) => resultOf(await client.post<JudgeBody>(`${pathOf(id)}/retire`)),
  async delete({ client, id }) {
    const { body } = await client.request('DELETE', pathOf(id))
    return { json: body, text: `${id} is deleted.` }
  },
}

const pollMs = 500

const versionOf = ({ version }: Values) => (version === undefined ? {} : { version: wholeNumber(version, '--version') })

/** The fields that were given, under the names of the API. */
function fieldsOf(values: Values): object {
  const { name, model, fail, temperature } = values
  const parameters = {
    ...(temperature !== undefined && { temperature: numberOf(temperature, '--temperature') }),
    ...(values['max-output-tokens'] !== undefined && {
      max_output_tokens: wholeNumber(values['max-output-tokens'], '--max-output-tokens'),
    }),
  }
  return {
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
    ...(values['prompt-file'] !== undefined && { prompt: { template: readYamlFile(values['prompt-file']) } }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(values['timeout-ms'] !== undefined && { timeout_ms: wholeNumber(values['timeout-ms'], '--timeout-ms') }),
    ...(fail !== undefined && { fail }),
    ...(values['max-usd-per-day'] !== undefined && {
      max_usd_per_day: numberOf(values['max-usd-per-day'], '--max-usd-per-day'),
    }),
  }
}

function numberOf(text: string, name: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value)) return value
  throw new UsageError(`${name} must be a number.`)
}

/** The kappa never stands without the base rate that it is read by. */
const kappaText = ({ calibration }: Pick<JudgeBody, 'calibration'>): string =>
  calibration === null
    ? 'not calibrated'
    : `${calibration.kappa ?? '-'} (${calibration.labels} labels, ${percent(calibration.base_rate_bp)} should match)`

const percent = (basisPoints: number): string => `${basisPoints / 100} %`

function resultOf(judge: JudgeBody): Result {
  const { id, name, model, version, state, active_version: active, shadow } = judge
  const lines = [
    `${id}  ${name}`,
    `version ${version}, ${state}${active !== null && active !== version ? `; version ${active} is active` : ''}${shadow ? `; version ${shadow.version} is the shadow of ${percent(shadow.share_bp)}` : ''}`,
    `model ${model}, prompt ${judge.prompt.digest}, timeout ${judge.timeout_ms} ms, fail ${judge.fail}, ${judge.max_usd_per_day} USD a day`,
    `kappa ${kappaText(judge)}`,
    ...judge.seen.map((seen) => `${seen.upstream} answers as ${seen.model} since ${dateOf(seen.since)}`),
    ...judge.alarms.map(({ text }) => `Alarm: ${text}`),
    '',
    ...conditionLines(judge),
  ]
  return { json: judge, text: lines.join('\n') }
}

const conditionLines = ({ conditions }: JudgeBody): string[] => [
  table(
    ['MET', 'CONDITION'],
    conditions.map(({ met, message }) => [met ? 'yes' : 'no', message]),
  ),
]

/** Only the reasons that there are. */
const leftOutText = ({ left_out: count, left_out_by: reasons }: CalibrationBody): string => {
  const named = Object.entries(reasons).filter(([, ofReason]) => ofReason > 0)
  const listed = named.map(([reason, ofReason]) => `${ofReason} ${reason.replaceAll('_', ' ')}`)
  return named.length === 0 ? `${count} left out` : `${count} left out (${listed.join(', ')})`
}

function calibrationText(calibration: CalibrationBody, judge: JudgeBody): string {
  const { id, status, error, report } = calibration
  if (report === null) return `${id}: ${status}. ${error ?? ''}`
  const { true_positives: found, true_negatives: passed } = report
  const { cases: ofCases, appeals: ofAppeals } = report.by_source
  const rules = report.disagreements.map((each) => [each.policy_id, `${each.count} of ${each.labels}`])
  return [
    `${id}: ${status}, ${report.labels} labels, ${leftOutText(calibration)}, ${report.usd.toFixed(4)} USD.`,
    `${ofCases.labels} labels of cases with kappa ${ofCases.kappa ?? '-'}, ${ofAppeals.labels} of appeals with kappa ${ofAppeals.kappa ?? '-'}`,
    report.consistent ? '' : 'It contradicts itself, so the other figures say nothing.',
    `kappa ${report.kappa ?? '-'}, agreement ${percent(report.agreement_bp)}; ${percent(report.base_rate_bp)} of the labels should match`,
    `finds ${found.found} of ${found.of} (at least ${percent(found.at_least_bp)}), lets ${passed.found} of ${passed.of} pass (at least ${percent(passed.at_least_bp)})`,
    '',
    ...conditionLines(judge),
    ...(rules.length === 0 ? [] : ['', table(['POLICY', 'DISAGREEMENTS'], rules)]),
  ].join('\n')
}
