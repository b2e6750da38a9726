import { Readable } from 'node:stream'
import Type from 'typebox'
import { toUnixSeconds } from '../../../../base/clock.ts'
import { inTurns } from '../../../../base/text-chunks.ts'
import type { TrustedKeys } from '../../../../domain/audit/chain/trusted-keys.ts'
import type { AuditReads } from '../../../../domain/audit/log.ts'
import { findProofRange, maxProofEvents } from '../../../../domain/audit/proof.ts'
import { requirePermission } from '../../../../domain/identity/permissions.ts'
import { periodOf, timeFilter } from '../../../resources/fields.ts'
import { admitReport, admitUntilClose } from '../../../resources/limit.ts'
import { withCursorError } from '../../../resources/list.ts'
import type { Route } from '../../../route.ts'
import { createQueryValidator } from '../../../validate.ts'
import { createStreamEnd, type EventStreamParts } from '../../event-stream.ts'
import { presentKeys } from '../present.ts'
import { proofFile } from './file.ts'
import type { ProofPageInput } from './page.ts'

type ProofParts = EventStreamParts & {
  readonly reads: { readonly events: AuditReads }
  /** Runs `proofPage` in a thread of its own, because reading events would delay requests. */
  readonly readPage: (input: ProofPageInput) => Promise<readonly string[]>
  readonly audit: { readonly trustedKeys: () => TrustedKeys }
  readonly version: string
}

const permission = 'audit:read'
/** Few enough that a report waits only a moment for the thread while it reads them. */
const eventsPerPage = 512

const ProofQuery = Type.Object(
  {
    from: timeFilter('The proof begins with the first event at this Unix time or later.'),
    to: timeFilter('The last event is before this Unix time.'),
  },
  { additionalProperties: false },
)

/** `/v1/organization/audit_logs/proof`: a part of the log as a page that verifies itself. */
export function auditProofRoute(parts: ProofParts): Route {
  const readQuery = withCursorError(createQueryValidator(ProofQuery))
  const { events } = parts.reads
  return {
    name: 'getAuditProof',
    method: 'GET',
    path: '/v1/organization/audit_logs/proof',
    summary: 'Save a part of the audit log with its proof',
    description: `One HTML file with the events, their signatures and the public keys. A browser verifies it offline, and so does \`gatehouse audit verify --file\`. It holds all events of the range, at most ${maxProofEvents}, and no texts of requests. A file that breaks off says so.`,
    credential: 'admin_key',
    permission,
    query: ProofQuery,
    answers: {
      200: {
        description: 'The file.',
        contentType: 'text/html',
        schema: Type.String({ examples: ['<!doctype html>\n'] }),
      },
    },
    errorStatuses: [400, 401, 403, 422, 429, 500, 503],
    async handle(request, reply) {
      const actor = await parts.authenticate(request)
      admitUntilClose(parts, actor, reply)
      requirePermission(actor.permissions, permission)
      const { from, to } = readQuery(request.query)
      const { id, name } = actor.organization
      const { first, last, checkpoints, handovers } = await rangeOf()
      const { start, end } = proofFile({
        type: 'audit.proof',
        version: 1,
        gatehouse: parts.version,
        organization: { id, name },
        from: from ?? null,
        to: to ?? null,
        saved_at: toUnixSeconds(parts.clock.nowMs()),
        keys: presentKeys(parts.audit.trustedKeys().keys, await events.keys()).data,
        checkpoints,
        handovers,
      })
      const isOver = createStreamEnd(parts, request, permission)
      reply
        .type('text/html; charset=utf-8')
        .header('content-disposition', `attachment; filename="audit-proof-${first}-${Math.max(first, last)}.html"`)
        // A browser must save it: its script must not run as a page of this server.
        .header('content-security-policy', 'sandbox')
        .header('cache-control', 'no-store')
      return reply.send(Readable.from(text()))

      async function rangeOf() {
        using _report = await admitReport(parts, actor, reply)
        return await findProofRange(events, id, periodOf({ from, to }))
      }

      async function* text(): AsyncGenerator<string> {
        yield start
        for (let after = first - 1; after < last; after += eventsPerPage) {
          if (await isOver()) throw new Error('the proof ended early')
          const page = { organizationId: id, after, last: Math.min(last, after + eventsPerPage) }
          yield* inTurns(await parts.readPage(page))
        }
        yield end
      }
    },
  }
}
