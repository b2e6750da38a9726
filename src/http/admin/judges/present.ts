import { toUnixSeconds } from '../../../base/clock.ts'
import { countLeftOut, type CalibrationStore, type JudgeCalibration } from '../../../domain/judges/calibration.ts'
import { judgeVersionOf } from '../../../domain/policy/judge-prompt.ts'
import { takeOverConditions, type TakeOverCondition } from '../../../domain/judges/conditions.ts'
import type { JudgeCountStore } from '../../../domain/judges/counts.ts'
import {
  fileJudgeId,
  nightlyLabels,
  type JudgeStore,
  type JudgeVersion,
  type StoredJudge,
} from '../../../domain/judges/judge.ts'
import type { CalibrationReport, SourceFigures } from '../../../domain/judges/calibration-report.ts'
import type { ActivateJudge, ActivationStores } from '../../../domain/judges/activation.ts'
import type { CalibrationBody } from './report-schema.ts'
import type { JudgeBody } from './schema.ts'

/** `policies.judge` of the configuration. */
export type FileJudgeFacts = {
  readonly model: string
  readonly timeoutMs: number
  readonly fail: 'closed' | 'open'
  readonly maxUsdPerDay: number
}

export type JudgeReads = ActivationStores & {
  readonly judges: JudgeStore
  readonly calibrations: CalibrationStore
  readonly judgeCounts: JudgeCountStore
}

/** A judge with what is known of its newest version, and of the one in use. */
export async function describeJudge(
  reads: JudgeReads,
  judge: StoredJudge,
  conditionsOf: ActivateJudge['conditions'],
): Promise<JudgeBody> {
  const { organizationId, id, latest, activeVersion, shadowVersion } = judge
  const of = { organizationId, judgeId: id }
  const calibration = await reads.calibrations.latest({ ...of, version: latest.version, kind: 'calibration' })
  const inUse = activeVersion ?? shadowVersion ?? latest.version
  const active = activeVersion === null ? undefined : await reads.judges.findVersion({ ...of, version: activeVersion })
  const shadow = shadowVersion === null ? undefined : await reads.judges.findVersion({ ...of, version: shadowVersion })
  const ofActive =
    active === undefined
      ? calibration
      : await reads.calibrations.latest({ ...of, version: active.version, kind: 'calibration' })
  return {
    id,
    object: 'organization.judge',
    name: judge.name,
    defined_in: 'organization',
    revision: judge.revision,
    ...versionBody(latest),
    active_version: activeVersion,
    shadow: shadow ? { version: shadow.version, share_bp: shadow.shareBasisPoints } : null,
    ...(await watchedBody(reads, { ...of, version: inUse })),
    calibration: calibrationFigures(calibration),
    conditions: (await conditionsOf(reads, latest)).map(conditionBody),
    nightly_usd: nightlyUsd(active, ofActive?.report),
    created_at: toUnixSeconds(judge.createdAtMs),
    updated_at: toUnixSeconds(judge.updatedAtMs),
  }
}

/** The judge of the configuration, for an organization. */
export async function describeFileJudge(
  reads: JudgeReads,
  organizationId: string,
  { model, timeoutMs, fail, maxUsdPerDay }: FileJudgeFacts,
): Promise<JudgeBody> {
  const of = { organizationId, judgeId: fileJudgeId, version: 0 }
  const { active } = await reads.judges.inForce(organizationId)
  const found = await reads.calibrations.latest({ ...of, kind: 'calibration' })
  const calibration = found?.subject === judgeVersionOf(model) ? found : undefined
  return {
    id: fileJudgeId,
    object: 'organization.judge',
    name: 'Judge of the configuration',
    defined_in: 'file',
    revision: null,
    version: 0,
    model,
    prompt: { template: null, digest: judgeVersionOf(model).slice(model.length + 1) },
    parameters: { temperature: 0, max_output_tokens: 128 },
    timeout_ms: timeoutMs,
    fail,
    max_usd_per_day: maxUsdPerDay,
    state: active === undefined ? 'active' : 'retired',
    active_version: active === undefined ? 0 : null,
    shadow: null,
    ...(await watchedBody(reads, of)),
    calibration: calibrationFigures(calibration),
    conditions: takeOverConditions({ report: calibration?.report ?? null, timeoutMs, activeKappa: undefined }).map(
      conditionBody,
    ),
    nightly_usd: active === undefined && calibration?.report ? usdOf(nightlyLabels, calibration.report) : null,
    created_at: null,
    updated_at: null,
  }
}

export const versionBody = (version: JudgeVersion) => ({
  version: version.version,
  model: version.model,
  prompt: { template: version.template, digest: version.digest },
  parameters: {
    temperature: version.parameters.temperature,
    max_output_tokens: version.parameters.maxOutputTokens,
  },
  timeout_ms: version.timeoutMs,
  fail: version.fail,
  max_usd_per_day: version.maxUsdPerDay,
  state: version.state,
})

async function watchedBody(
  { judgeCounts, judgeAlarms }: JudgeReads,
  of: { readonly organizationId: string; readonly judgeId: string; readonly version: number },
) {
  const seen = await judgeCounts.seen(of)
  const alarms = (await judgeAlarms.open(of.organizationId)).filter(
    ({ judgeId, version }) => judgeId === of.judgeId && version === of.version,
  )
  return {
    seen: seen.map(({ upstream, model, sinceMs }) => ({ upstream, model, since: toUnixSeconds(sinceMs) })),
    alarms: alarms.map(({ kind, text, sinceMs }) => ({ kind, text, since: toUnixSeconds(sinceMs) })),
  }
}

const conditionBody = ({ kind, isMet, message }: TakeOverCondition) => ({ kind, met: isMet, message })

function calibrationFigures(calibration: JudgeCalibration | undefined): JudgeBody['calibration'] {
  if (!calibration?.report) return null
  return { id: calibration.id, at: toUnixSeconds(calibration.updatedAtMs), ...reportBody(calibration.report) }
}

const nightlyUsd = (active: JudgeVersion | undefined, report: CalibrationReport | null | undefined): number | null =>
  active === undefined || !report ? null : usdOf(active.fixed.items.length, report)

/** What questions about these labels cost. There may be fewer labels. */
const usdOf = (most: number, { labels, usd_per_1000: usdPer1000 }: CalibrationReport): number =>
  (Math.min(most, labels) * usdPer1000) / 1_000

const reportBody = ({ disagreements, by_source: bySource, ...report }: CalibrationReport) => ({
  ...report,
  by_source: bySource ?? { cases: figuresOf(report), appeals: noFigures },
  disagreements: disagreements.map(({ cases, appeals = [], ...each }) => ({
    ...each,
    cases: [...cases],
    appeals: [...appeals],
  })),
})

const figuresOf = ({ labels, agreement_bp, base_rate_bp, kappa }: SourceFigures): SourceFigures => ({
  labels,
  agreement_bp,
  base_rate_bp,
  kappa,
})

const noFigures: SourceFigures = { labels: 0, agreement_bp: 0, base_rate_bp: 0, kappa: null }

export const presentCalibration = (calibration: JudgeCalibration): CalibrationBody => ({
  id: calibration.id,
  object: 'organization.judge.calibration',
  judge_id: calibration.judgeId,
  version: calibration.version,
  subject: calibration.subject,
  kind: calibration.kind,
  status: calibration.status,
  done: calibration.done,
  total: calibration.total,
  left_out: countLeftOut(calibration.leftOut),
  left_out_by: calibration.leftOut,
  error: calibration.error,
  report: calibration.report && reportBody(calibration.report),
  created_by: calibration.createdBy,
  created_at: toUnixSeconds(calibration.createdAtMs),
  updated_at: toUnixSeconds(calibration.updatedAtMs),
})
