import type { Clock } from '../../../base/clock.ts'
import type { LabelFilter } from '../../../domain/appeals/label.ts'
import { holds } from '../../../domain/identity/permissions.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { LabelList, LabelQuery, type LabelBody } from './label-schema.ts'
import { presentLabel, type AppealReads } from './present.ts'

/** What people said about the texts of decisions, over all appeals. */
export const labelRoute = ({ read }: AdminReads<Pick<AppealReads, 'appeals'>>, clock: Pick<Clock, 'nowMs'>): Route =>
  read({
    name: 'listLabels',
    path: '/v1/organization/labels',
    summary: 'List labels',
    description:
      'What people said about the texts of appealed decisions. Labels of an open appeal are left out until you have labelled it yourself, so that your label is blind. A label has no text.',
    permission: 'reviews:read',
    params: none,
    query: LabelQuery,
    answer: { description: 'A page of labels.', schema: LabelList },
    async operation({ appeals }, { actor, query: { policy_id: policyId, event_id: eventId, should, by, ...page } }) {
      const filter: LabelFilter = {
        ...(policyId !== undefined && { policyId }),
        ...(eventId !== undefined && { eventId }),
        ...(should !== undefined && { should }),
        ...(by !== undefined && { by }),
        reader: actor.id,
        nowMs: clock.nowMs(),
      }
      const mayReadTexts = holds(actor.permissions, 'content:read')
      const found = await appeals.listLabels(actor.organization.id, filter, pageOf(page))
      return presentList(found, (label): LabelBody => ({
        ...presentLabel(label, mayReadTexts),
        object: 'organization.label',
        appeal_id: label.appealId,
        event_id: label.eventId,
        request_id: label.requestId,
        policy_id: label.policyId,
        case_id: label.caseId,
      }))
    },
  })
