import { toUnixSeconds } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { ModelSetOf } from '../../../domain/inference/model-set.ts'
import type { ActivateJudge } from '../../../domain/judges/activation.ts'
import { fileJudgeId, type JudgeContent } from '../../../domain/judges/judge.ts'
import { findJudge, type JudgeAdministration } from '../../../domain/judges/mutations.ts'
import { none } from '../../resources/fields.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminRoutes } from '../routes.ts'
import { describeFileJudge, describeJudge, versionBody, type FileJudgeFacts, type JudgeReads } from './present.ts'
import * as Schema from './schema.ts'

export const judgesPath = '/v1/organization/judges'
export const judgePath = `${judgesPath}/{judge_id}`

const answer = { description: 'The judge.', schema: Schema.JudgeObject }

export type JudgeRouteParts = {
  readonly administration: JudgeAdministration
  readonly activation: ActivateJudge
  readonly modelSetOf: ModelSetOf
  /** Undefined if `policies.judge` is not configured. */
  readonly fileJudge: FileJudgeFacts | undefined
}

type Actor = { readonly organization: { readonly id: string } }

export const judgeAt = ({ organization }: Actor, { judge_id: id }: { readonly judge_id: string }) => ({
  organizationId: organization.id,
  id,
})

/** Judges of an organization: what evaluates its rules in plain language. */
export function judgeRoutes({ read, mutation }: AdminRoutes<JudgeReads>, parts: JudgeRouteParts): Route[] {
  const { administration, activation, fileJudge } = parts
  const describe = (stores: JudgeReads, judge: Parameters<typeof describeJudge>[1]) =>
    describeJudge(stores, judge, activation.conditions)
  const managed = { managed: ({ id }: Schema.JudgeBody) => ({ id, kind: 'judge.updated' as const }) }
  const present = (body: Schema.JudgeBody): Schema.JudgeBody => body

  /** The catalogue cannot be read in the transaction. */
  async function hasModel({ organization }: Actor, name: string | undefined): Promise<boolean> {
    if (name === undefined) return true
    const { catalogue } = await parts.modelSetOf(organization.id)
    return catalogue.find(name) !== undefined
  }

  return [
    read({
      name: 'listJudges',
      isManaged: true,
      path: judgesPath,
      summary: 'List the judges',
      description:
        'What evaluates rules in plain language. The judge of the configuration comes first, if there is one.',
      permission: 'judges:read',
      params: none,
      query: listQuery({}),
      answer: { description: 'A page of judges.', schema: Schema.JudgeList },
      async operation(stores, { actor, query }) {
        const { id } = actor.organization
        const page = await stores.judges.list(id, pageOf(query))
        const own = await Promise.all(page.items.map((judge) => describe(stores, judge)))
        const isFirst = query.after === undefined && fileJudge !== undefined
        const items = isFirst ? [await describeFileJudge(stores, id, fileJudge), ...own] : own
        return presentList({ ...page, items }, present)
      },
    }),
    mutation({
      name: 'createJudge',
      method: 'POST',
      path: judgesPath,
      summary: 'Create a judge',
      description: 'It is a draft: it evaluates nothing until it is activated. Calibrate it first.',
      permission: 'judges:write',
      params: none,
      query: none,
      body: Schema.CreateJudge,
      status: 201,
      answer,
      prepare: (_reads, { actor, body }) => hasModel(actor, body.model),
      async operation(stores, { actor, body: { name, ...fields }, prepared }) {
        requireModel(prepared, fields.model)
        const content = { ...defaults, model: fields.model, ...contentOf(fields) }
        const input = { name, content, createdBy: actor.id }
        const done = await administration.create(stores, actor.organization.id, input)
        return { ...done, value: await describe(stores, done.value) }
      },
      ...managed,
      present,
    }),
    read({
      name: 'getJudge',
      isManaged: true,
      path: judgePath,
      summary: 'Read a judge',
      permission: 'judges:read',
      params: Schema.JudgeParams,
      query: none,
      answer,
      async operation(stores, { actor, params }) {
        if (params.judge_id === fileJudgeId && fileJudge !== undefined)
          return describeFileJudge(stores, actor.organization.id, fileJudge)
        requireStored(params)
        return describe(stores, await findJudge(stores.judges, judgeAt(actor, params)))
      },
    }),
    mutation({
      name: 'updateJudge',
      method: 'PATCH',
      path: judgePath,
      summary: 'Change a judge',
      description:
        'A change of what is asked makes a new version, which is a draft. The version in use stays in use until another one is activated.',
      permission: 'judges:write',
      params: Schema.JudgeParams,
      query: none,
      body: Schema.UpdateJudge,
      answer,
      prepare: (_reads, { actor, body }) => hasModel(actor, body.model),
      async operation(stores, { actor, params, body: { revision, name, ...fields }, prepared }) {
        requireModel(prepared, fields.model)
        const before = await findJudge(stores.judges, judgeAt(actor, params))
        const changes = contentOf(fields, before.latest.parameters)
        const at = { ...judgeAt(actor, params), revision }
        const patch = { ...(name !== undefined && { name }), ...changes }
        const done = await administration.update(stores, at, patch, actor.id)
        return { ...done, value: await describe(stores, done.value) }
      },
      ...managed,
      present,
    }),
    mutation({
      name: 'deleteJudge',
      method: 'DELETE',
      path: judgePath,
      summary: 'Delete a judge',
      description: 'With its calibrations and counts. A judge in use must be retired first (409).',
      permission: 'judges:write',
      params: Schema.JudgeParams,
      query: none,
      body: none,
      answer: { description: 'The deleted judge.', schema: Schema.DeletedJudge },
      operation: (stores, { actor, params }) => administration.remove(stores, judgeAt(actor, params)),
      removes: ({ id }) => ({ id }),
      present: ({ id }) => ({ object: 'organization.judge.deleted', id, deleted: true }),
    }),
    read({
      name: 'listJudgeVersions',
      path: `${judgePath}/versions`,
      summary: 'List the versions of a judge',
      permission: 'judges:read',
      params: Schema.JudgeParams,
      query: none,
      answer: { description: 'All versions.', schema: Schema.VersionList },
      async operation(stores, { actor, params }) {
        requireStored(params)
        const { organizationId, id } = await findJudge(stores.judges, judgeAt(actor, params))
        const versions = await stores.judges.versions(organizationId, id)
        return {
          object: 'list' as const,
          data: versions.map((version) => ({
            object: 'organization.judge.version' as const,
            ...versionBody(version),
            created_by: version.createdBy,
            created_at: toUnixSeconds(version.createdAtMs),
          })),
        }
      },
    }),
    mutation({
      name: 'activateJudge',
      method: 'POST',
      path: `${judgePath}/activate`,
      summary: 'Let a judge take over',
      description:
        'From now on it evaluates the rules in plain language, on other nodes within a second. Needs a calibration with at least 50 labels, a kappa of at least 0.6 that is not below that of the active judge by more than 0.05, all injection attempts withstood, and answers within its timeout: else 409 `judge_not_calibrated`. An override needs the permission `policies:override`.',
      permission: 'policies:publish',
      params: Schema.JudgeParams,
      query: none,
      body: Schema.ActivateJudge,
      answer,
      async operation(stores, { actor, params, body: { version, override } }) {
        if (override) requirePermission(actor.permissions, 'policies:override')
        const choice = { version, overrideReason: override?.reason }
        const done = await activation.activate(stores, judgeAt(actor, params), choice)
        return { ...done, value: await describe(stores, done.value) }
      },
      present,
    }),
    mutation({
      name: 'shadowJudge',
      method: 'POST',
      path: `${judgePath}/shadow`,
      summary: 'Ask a judge beside the active one',
      description:
        'It is asked about a share of the texts of requests, after the active judge and without delaying a request. It decides about nothing. The comparison says where the two differ.',
      permission: 'judges:write',
      params: Schema.JudgeParams,
      query: none,
      body: Schema.ShadowJudge,
      answer,
      async operation(stores, { actor, params, body: { version, share_bp: shareBasisPoints } }) {
        const done = await administration.shadow(stores, judgeAt(actor, params), { version, shareBasisPoints })
        return { ...done, value: await describe(stores, done.value) }
      },
      present,
    }),
    mutation({
      name: 'retireJudge',
      method: 'POST',
      path: `${judgePath}/retire`,
      summary: 'Take a judge out of use',
      description:
        'The judge of the configuration evaluates then. Without one, a rule in plain language is evaluated by what it names.',
      permission: 'policies:publish',
      params: Schema.JudgeParams,
      query: none,
      body: none,
      answer,
      async operation(stores, { actor, params }) {
        const done = await administration.retire(stores, judgeAt(actor, params))
        return { ...done, value: await describe(stores, done.value) }
      },
      present,
    }),
  ]
}

const defaults: Omit<JudgeContent, 'model'> = {
  template: null,
  parameters: { temperature: 0, max_output_tokens: 128 },
  timeoutMs: 5_000,
  fail: 'closed',
  maxUsdPerDay: 10,
}

type GivenContent = Partial<Pick<Schema.JudgeCreateBody, 'model' | 'prompt' | 'parameters' | 'timeout_ms' | 'fail' | 'max_usd_per_day'>>

/** The fields that were given. */
function contentOf(fields: GivenContent, before = defaults.parameters): Partial<JudgeContent> {
  const { model, prompt, parameters, timeout_ms: timeoutMs, fail, max_usd_per_day: maxUsdPerDay } = fields
  return {
    ...(model !== undefined && { model }),
    ...(prompt && { template: prompt.template }),
    ...(parameters && {
      parameters: {
        temperature: parameters.temperature ?? before.temperature,
        max_output_tokens: parameters.max_output_tokens ?? before.max_output_tokens,
      },
    }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(fail !== undefined && { fail }),
    ...(maxUsdPerDay !== undefined && { maxUsdPerDay }),
  }
}

function requireModel(isKnown: boolean | undefined, model: string | undefined): void {
  if (isKnown !== false) return
  throw invalidField(['model'], `there is no model ${model} that the organization can use`)
}

/** The judge of the configuration has no versions, and there may be none. */
function requireStored({ judge_id: id }: { readonly judge_id: string }): void {
  if (id === fileJudgeId) throw new Fault('not_found', 'not_found', 'There is no judge in the configuration.')
}
