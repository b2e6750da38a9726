import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { requireName } from '../identity/bounds.ts'
import { foldName } from '../identity/names.ts'
import { changedValues, type AuditRecord, type WithAuditRecord } from '../mutations/audit-log.ts'
import type { EndUnusedAlarms, JudgeAlarmStore } from './alarms.ts'
import {
  fileJudgeId,
  type JudgeContent,
  type JudgeHead,
  type JudgeStore,
  type JudgeVersion,
  type StoredJudge,
} from './judge.ts'
import { checkTemplate, digestOfPrompt } from './template.ts'

/** More are not needed, and each has calibrations. */
const maxJudges = 100
/** A shadow is asked as often as the active judge at most. */
const wholeShare = 10_000

export type NewJudge = { readonly name: string; readonly content: JudgeContent; readonly createdBy: string }

/** Fields that are left out stay as they are. */
export type JudgePatch = { readonly name?: string | undefined; readonly createdBy: string } & Partial<JudgeContent>

export type JudgeAt = { readonly organizationId: string; readonly id: string }
type RevisionAt = JudgeAt & { readonly revision: number }

type StoresOf = { readonly judges: JudgeStore }
/** Taking a judge out of use ends its alarms. */
type UseStores = StoresOf & { readonly judgeAlarms: JudgeAlarmStore }

type Parts = { readonly ids: Ids; readonly clock: Clock; readonly endUnusedAlarms: EndUnusedAlarms }

export type JudgeAdministration = ReturnType<typeof createJudgeAdministration>

/** Creates, changes and deletes judges, and takes them out of use. A change of what is asked is a new version. */
export function createJudgeAdministration({ ids, clock, endUnusedAlarms }: Parts) {
  return {
    async create(
      { judges }: StoresOf,
      organizationId: string,
      { name, content, createdBy }: NewJudge,
    ): Promise<WithAuditRecord<StoredJudge>> {
      requireContent(content)
      const named = await judges.names(organizationId)
      if (named.length >= maxJudges)
        throw new Fault('conflict', 'judge_limit_reached', `There may be ${maxJudges} judges. Delete one first.`)
      requireNewName(named, name)
      const nowMs = clock.nowMs()
      const head = { id: ids('jdg'), organizationId, name, revision: 1, createdAtMs: nowMs, updatedAtMs: nowMs }
      const version = versionOf(head, { content, createdBy, number: 1, nowMs })
      await judges.insert(head, version)
      const value = { ...head, latest: version, activeVersion: null, shadowVersion: null }
      return { value, record: recordOf('judge.created', head, { name, version: 1, ...contentFields(content) }) }
    },

    async update(
      { judges }: StoresOf,
      at: RevisionAt,
      { name, createdBy, ...changes }: JudgePatch,
    ): Promise<WithAuditRecord<StoredJudge>> {
      const before = await findAt(judges, at)
      const { latest } = before
      const content = { ...contentOf(latest), ...changes }
      requireContent(content)
      const isSameContent = JSON.stringify(contentOf(latest)) === JSON.stringify(content)
      const nextName = name ?? before.name
      if (isSameContent && nextName === before.name) return { value: before }
      if (nextName !== before.name) {
        const named = await judges.names(at.organizationId)
        requireNewName(
          named.filter(({ id }) => id !== before.id),
          nextName,
        )
      }
      const nowMs = clock.nowMs()
      const head = { ...headOf(before), name: nextName, revision: at.revision + 1, updatedAtMs: nowMs }
      if (!(await judges.touch(head, at.revision))) throw await lostRace(judges, at)
      const next = isSameContent ? latest : versionOf(head, { content, createdBy, number: latest.version + 1, nowMs })
      if (next !== latest) await judges.insertVersion(next)
      const details = changedValues(
        { name: before.name, version: latest.version, ...contentFields(latest) },
        { name: nextName, version: next.version, ...contentFields(content) },
      )
      return { value: { ...before, ...head, latest: next }, record: recordOf('judge.updated', head, details) }
    },

    /** A judge that is asked about requests cannot be deleted. */
    async remove(stores: UseStores, at: JudgeAt): Promise<WithAuditRecord<StoredJudge>> {
      const { judges } = stores
      const judge = await findJudge(judges, at)
      if (judge.activeVersion !== null || judge.shadowVersion !== null)
        throw invalidState(`The judge ${judge.id} is in use. Retire it first.`)
      const further = await endUnusedAlarms(stores, at.organizationId)
      await judges.remove(at.organizationId, at.id)
      return { value: judge, record: recordOf('judge.deleted', judge, { name: judge.name }), further }
    },

    /** Asks a version beside the active judge, about a share of the questions. A share of 0 ends it. */
    async shadow(
      stores: UseStores,
      at: JudgeAt,
      {
        version: number,
        shareBasisPoints,
      }: { readonly version: number | undefined; readonly shareBasisPoints: number },
    ): Promise<WithAuditRecord<StoredJudge>> {
      const { judges } = stores
      const judge = await findJudge(judges, at)
      const version = await findVersion(judges, judge, number ?? judge.shadowVersion ?? judge.latest.version)
      if (version.state === 'active') throw invalidState('The active judge cannot be its own shadow.')
      const share = Math.min(wholeShare, shareBasisPoints)
      if (share === 0 && version.state !== 'shadow') return { value: judge }
      const { shadow: before } = await judges.inForce(at.organizationId)
      if (before !== undefined && !(before.judgeId === version.judgeId && before.version === version.version))
        await judges.changeVersion(before, idle(before))
      await judges.changeVersion(version, share === 0 ? idle(version) : { state: 'shadow', shareBasisPoints: share })
      const details = { version: version.version, share_bp: share }
      return saved(stores, { judge, clock, endUnusedAlarms }, recordOf('judge.shadowed', judge, details))
    },

    /** Takes a judge out of use. The judge of the configuration evaluates then, if there is one. */
    async retire(stores: UseStores, at: JudgeAt): Promise<WithAuditRecord<StoredJudge>> {
      const { judges } = stores
      const judge = await findJudge(judges, at)
      const inUse = [judge.activeVersion, judge.shadowVersion].filter((version) => version !== null)
      if (inUse.length === 0) return { value: judge }
      for (const version of inUse)
        await judges.changeVersion(
          { organizationId: at.organizationId, judgeId: at.id, version },
          { state: 'retired', shareBasisPoints: 0 },
        )
      return saved(stores, { judge, clock, endUnusedAlarms }, recordOf('judge.retired', judge, { versions: inUse }))
    },
  }
}

type ChangedUse = Pick<Parts, 'clock' | 'endUnusedAlarms'> & { readonly judge: StoredJudge }

/** Every change of what is in use is a change of the judge. */
async function saved(
  stores: UseStores,
  { judge, clock, endUnusedAlarms }: ChangedUse,
  record: AuditRecord,
): Promise<WithAuditRecord<StoredJudge>> {
  const { judges } = stores
  const { id, organizationId, revision } = judge
  const further = await endUnusedAlarms(stores, organizationId)
  const head = { ...headOf(judge), revision: revision + 1, updatedAtMs: clock.nowMs() }
  if (!(await judges.touch(head, revision))) throw await lostRace(judges, { organizationId, id, revision })
  return { value: await findJudge(judges, { organizationId, id }), record, further }
}

/** What a version is after it was a shadow. */
const idle = ({ calibrationId }: JudgeVersion) =>
  ({ state: calibrationId === null ? 'draft' : 'calibrated', shareBasisPoints: 0 }) as const

type NewVersion = {
  readonly content: JudgeContent
  readonly createdBy: string
  readonly number: number
  readonly nowMs: number
}

const versionOf = (judge: JudgeHead, { content, createdBy, number, nowMs }: NewVersion): JudgeVersion => ({
  ...content,
  judgeId: judge.id,
  organizationId: judge.organizationId,
  version: number,
  digest: digestOfPrompt(content),
  state: 'draft',
  shareBasisPoints: 0,
  calibrationId: null,
  fixed: { items: [], kappa: null },
  activatedAtMs: null,
  createdBy,
  createdAtMs: nowMs,
})

const contentOf = ({ model, template, parameters, timeoutMs, fail, maxUsdPerDay }: JudgeContent): JudgeContent => ({
  model,
  template,
  parameters,
  timeoutMs,
  fail,
  maxUsdPerDay,
})

export const headOf = ({ id, organizationId, name, revision, createdAtMs, updatedAtMs }: JudgeHead): JudgeHead => ({
  id,
  organizationId,
  name,
  revision,
  createdAtMs,
  updatedAtMs,
})

/** The prompt is recorded by its digest, because it is long. */
const contentFields = (content: JudgeContent) => ({
  model: content.model,
  prompt_digest: digestOfPrompt(content),
  temperature: content.parameters.temperature,
  output_limit: content.parameters.maxOutputTokens,
  timeout_ms: content.timeoutMs,
  fail: content.fail,
  max_usd_per_day: content.maxUsdPerDay,
})

export const recordOf = (
  kind: AuditRecord['kind'],
  { id }: Pick<JudgeHead, 'id'>,
  details: AuditRecord['details'],
): AuditRecord => ({ kind, resourceId: id, details })

function requireContent({ template }: JudgeContent): void {
  if (template !== null) checkTemplate(template)
}

function requireNewName(others: readonly Pick<JudgeHead, 'id' | 'name'>[], name: string): void {
  requireName(name)
  const other = others.find((each) => foldName(each.name) === foldName(name))
  if (!other) return
  const message = `The judge ${other.id} already has the name ${JSON.stringify(other.name)}. Choose another name.`
  throw new Fault('conflict', 'duplicate_name', message, { param: 'name' })
}

/** Throws the same error for an unknown id and a judge of another organization. */
export async function findJudge(judges: Pick<JudgeStore, 'find'>, at: JudgeAt): Promise<StoredJudge> {
  if (at.id === fileJudgeId)
    throw new Fault(
      'conflict',
      'defined_in_configuration',
      'This judge is defined in `policies.judge` of the configuration, and can only be changed there.',
    )
  const judge = await judges.find(at.organizationId, at.id)
  if (judge) return judge
  throw new Fault('not_found', 'not_found', `There is no judge ${at.id}.`)
}

export async function findVersion(
  judges: Pick<JudgeStore, 'findVersion'>,
  { id, organizationId }: Pick<JudgeHead, 'id' | 'organizationId'>,
  version: number,
): Promise<JudgeVersion> {
  const found = await judges.findVersion({ organizationId, judgeId: id, version })
  if (found) return found
  const message = `version: the judge ${id} has no version ${version}.`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'version' })
}

async function findAt(judges: JudgeStore, at: RevisionAt): Promise<StoredJudge> {
  const judge = await findJudge(judges, at)
  if (judge.revision === at.revision) return judge
  throw revisionConflict(judge.revision, at.revision)
}

const lostRace = async (judges: JudgeStore, at: RevisionAt): Promise<Fault> =>
  revisionConflict((await findJudge(judges, at)).revision, at.revision)

const revisionConflict = (current: number, named: number): Fault =>
  new Fault('conflict', 'revision_conflict', `The judge is at revision ${current}; the request names ${named}.`, {
    param: 'revision',
  })

const invalidState = (message: string): Fault => new Fault('conflict', 'invalid_state', message)
