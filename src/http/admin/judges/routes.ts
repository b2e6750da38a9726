import { toUnixSeconds } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import type { ActivateJudge } from '../../../domain/judges/activation.ts'
import { fileJudgeId } from '../../../domain/judges/judge.ts'
import { findJudge } from '../../../domain/judges/mutations.ts'
import { none } from '../../resources/fields.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { judgeAt, judgePath, judgesPath } from './paths.ts'
import { describeFileJudge, describeJudge, versionBody, type FileJudgeFacts, type JudgeReads } from './present.ts'
import * as Schema from './schema.ts'

const answer = { description: 'The judge.', schema: Schema.JudgeObject }

export type JudgeRouteParts = {
  readonly activation: ActivateJudge
  /** Undefined if `policies.judge` is not configured. */
  readonly fileJudge: FileJudgeFacts | undefined
}

/** Judges of an organization: what evaluates its rules in plain language. */
export function judgeRoutes({ read }: AdminReads<JudgeReads>, { activation, fileJudge }: JudgeRouteParts): Route[] {
  const describe = (stores: JudgeReads, judge: Parameters<typeof describeJudge>[1]) =>
    describeJudge(stores, judge, activation.conditions)
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
        return presentList({ ...page, items }, (body) => body)
      },
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
  ]
}

/** The judge of the configuration has no versions, and there may be none. */
function requireStored({ judge_id: id }: { readonly judge_id: string }): void {
  if (id === fileJudgeId) throw new Fault('not_found', 'not_found', 'There is no judge in the configuration.')
}
