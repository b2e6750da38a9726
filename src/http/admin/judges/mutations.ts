import type { ActivateJudge } from '../../../domain/judges/activation.ts'
import type { ModelSetOf } from '../../../domain/inference/model-set.ts'
import type { JudgeContent, StoredJudge } from '../../../domain/judges/judge.ts'
import { findJudge, type JudgeAdministration } from '../../../domain/judges/mutations.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminRoutes } from '../routes.ts'
import { judgeAt, judgePath, judgesPath } from './paths.ts'
import { describeJudge, type JudgeReads } from './present.ts'
import * as Schema from './schema.ts'

const answer = { description: 'The judge.', schema: Schema.JudgeObject }

export type JudgeChangeParts = {
  readonly administration: JudgeAdministration
  readonly activation: ActivateJudge
  readonly modelSetOf: ModelSetOf
}

type Actor = { readonly organization: { readonly id: string } }

/** Creates, changes and deletes judges. */
export function judgeMutations(
  { mutation }: AdminRoutes<JudgeReads>,
  { administration, activation, modelSetOf }: JudgeChangeParts,
): Route[] {
  const describe = (stores: JudgeReads, judge: StoredJudge) => describeJudge(stores, judge, activation.conditions)
  const managed = { managed: ({ id }: Schema.JudgeBody) => ({ id, kind: 'judge.updated' as const }) }
  const present = (body: Schema.JudgeBody): Schema.JudgeBody => body

  /** The catalogue cannot be read in the transaction. */
  async function hasModel({ organization }: Actor, name: string | undefined): Promise<boolean> {
    if (name === undefined) return true
    const { catalogue } = await modelSetOf(organization.id)
    return catalogue.find(name) !== undefined
  }

  return [
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
        const patch = { ...(name !== undefined && { name }), ...changes, createdBy: actor.id }
        const done = await administration.update(stores, at, patch)
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
  ]
}

const defaults: Omit<JudgeContent, 'model'> = {
  template: null,
  parameters: { temperature: 0, maxOutputTokens: 128 },
  timeoutMs: 5_000,
  fail: 'closed',
  maxUsdPerDay: 10,
}

type GivenContent = Partial<
  Pick<Schema.JudgeCreateBody, 'model' | 'prompt' | 'parameters' | 'timeout_ms' | 'fail' | 'max_usd_per_day'>
>

/** The fields that were given. */
function contentOf(fields: GivenContent, before = defaults.parameters): Partial<JudgeContent> {
  const { model, prompt, parameters, timeout_ms: timeoutMs, fail, max_usd_per_day: maxUsdPerDay } = fields
  return {
    ...(model !== undefined && { model }),
    ...(prompt && { template: prompt.template }),
    ...(parameters && {
      parameters: {
        temperature: parameters.temperature ?? before.temperature,
        maxOutputTokens: parameters.max_output_tokens ?? before.maxOutputTokens,
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
