import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { ActivateJudge } from '../../../domain/judges/activation.ts'
import type { StoredJudge } from '../../../domain/judges/judge.ts'
import type { JudgeAdministration } from '../../../domain/judges/mutations.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import { judgeAt, judgePath } from './paths.ts'
import { describeJudge, type JudgeReads } from './present.ts'
import * as Schema from './schema.ts'

const answer = { description: 'The judge.', schema: Schema.JudgeObject }

export type JudgeActionParts = { readonly administration: JudgeAdministration; readonly activation: ActivateJudge }

/** Puts judges into use, and takes them out of it. */
export function judgeActions(
  { mutation }: AdminRoutes<JudgeReads>,
  { administration, activation }: JudgeActionParts,
): Route[] {
  const describe = (stores: JudgeReads, judge: StoredJudge) => describeJudge(stores, judge, activation.conditions)
  const present = (body: Schema.JudgeBody): Schema.JudgeBody => body
  return [
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
