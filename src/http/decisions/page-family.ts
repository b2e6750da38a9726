import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Clock } from '../../base/clock.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import type { Appeals, AppealStores } from '../../domain/appeals/appeals.ts'
import { appealMs } from '../../domain/appeals/decided-request.ts'
import type { DecisionAddresses, NamedDecision } from '../../domain/appeals/decision-addresses.ts'
import type { AddressLimit } from '../../domain/identity/address-limit.ts'
import type { Actor } from '../../domain/mutations/audit-log.ts'
import type { AuditedMutation } from '../../domain/mutations/audited-mutation.ts'
import { createDefaultErrors, GeneralErrorBody } from '../default-errors.ts'
import type { EndpointFamily, Route } from '../route.ts'
import { decisionPage, maxNoteLength, messagePage, pageHeaders, type DecisionPage } from './page.ts'
import type { ReadDecision } from './read-decision.ts'

export type DecisionPageParts = {
  readonly addresses: DecisionAddresses
  readonly read: ReadDecision
  readonly appeals: Appeals
  readonly mutate: AuditedMutation<AppealStores>
  readonly clock: Clock
  /** Pages and appeals of a client address. */
  readonly limits: { readonly pages: AddressLimit; readonly appeals: AddressLimit }
}

const path = '/d/{token}'
const Params = Type.Object({ token: Type.String({ description: 'The address of the decision.' }) })
const html = { description: 'The page of the decision.', contentType: 'text/html', schema: Type.String() }

/** `/d/{token}`: the page of a decision. A person with its address may read and appeal the decision. */
export function decisionPageFamily(parts: DecisionPageParts): EndpointFamily {
  const shared = { path, credential: 'none', params: Params, isUndescribed: true } as const
  const routes: Route[] = [
    {
      ...shared,
      name: 'getDecisionPage',
      method: 'GET',
      summary: 'The page of a decision',
      answers: { 200: html },
      errorStatuses: [404, 429, 500, 503],
      async handle(request, reply) {
        parts.limits.pages.admit(request.ip)
        return sendPage(reply, await readNamed(parts, decisionAt(parts, request)))
      },
    },
    {
      ...shared,
      name: 'appealFromDecisionPage',
      method: 'POST',
      summary: 'Appeal a decision from its page',
      bodyLimitBytes: 16 * 1024,
      body: Type.Object({ note: Type.String({ description: 'Why the decision is wrong.' }) }),
      answers: { 303: { description: 'Back to the page.' } },
      errorStatuses: [400, 404, 409, 413, 422, 429, 500, 503],
      handle: (request, reply) => appeal(parts, request, reply),
    },
  ]
  return {
    name: 'Decision page',
    description: 'The page of a decision, for people without a key.',
    prefixes: ['/d/'],
    routes,
    takesForms: true,
    encodeError,
    errorSchema: GeneralErrorBody,
  }
}

async function appeal(parts: DecisionPageParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  parts.limits.appeals.admit(request.ip)
  const decision = decisionAt(parts, request)
  const note = noteIn(request.body)
  const problem = problemOf(note)
  if (problem !== undefined)
    return sendPage(reply.code(422), { ...(await readNamed(parts, decision)), rejected: { problem, note } })
  await readNamed(parts, decision) // an address that is too old appeals nothing
  const input = { ...decision, projectId: undefined, openedBy: null, note }
  try {
    await parts.mutate(personAt(request, decision), (stores) => parts.appeals.openByCaller(stores, input))
  } catch (error) {
    // The page shows the appeal that there is.
    if (!isFault(error) || error.code !== 'already_appealed') throw error
  }
  // Relative to the address of the page, so that it works below a path prefix of a proxy.
  return reply.code(303).header('location', tokenIn(request)).send()
}

const sendPage = (reply: FastifyReply, page: DecisionPage): FastifyReply =>
  reply.headers(pageHeaders).send(decisionPage(page))

/** The decision that the address names, for as long as it can be appealed. */
async function readNamed({ read, clock }: DecisionPageParts, decision: NamedDecision): Promise<DecisionPage> {
  const found = await read(decision)
  if (clock.nowMs() < found.request.decidedAtMs + appealMs) return found
  throw unknownAddress()
}

function decisionAt({ addresses }: DecisionPageParts, request: FastifyRequest): NamedDecision {
  const decision = addresses.decisionOf(tokenIn(request))
  if (decision) return decision
  throw unknownAddress()
}

const tokenIn = ({ params }: FastifyRequest): string => (params as { readonly token: string }).token

const unknownAddress = (): Fault =>
  new Fault('not_found', 'not_found', 'This address names no decision. It may be older than 30 days, or not complete.')

function noteIn(body: unknown): string {
  const note: unknown = isRecord(body) ? body['note'] : undefined
  return typeof note === 'string' ? note.trim() : ''
}

function problemOf(note: string): string | undefined {
  if (note === '') return 'Say in one sentence why the decision is wrong.'
  if (note.length > maxNoteLength) return `Shorten it to ${maxNoteLength} characters.`
  return undefined
}

/** The address is a credential, so the audit log gets its pattern. */
const personAt = (request: FastifyRequest, { organizationId }: NamedDecision): Actor => ({
  organizationId,
  kind: 'person',
  credentialId: null,
  requestId: request.id,
  call: { method: request.method, path, address: request.ip, userAgent: request.headers['user-agent'] },
})

const titles: Readonly<Record<number, string>> = { 404: 'Nothing is here', 429: 'Too many requests' }

/** Errors are pages as well. */
const encodeError: EndpointFamily['encodeError'] = (fault, requestId) => {
  const { status, headers } = createDefaultErrors(() => '')(fault, requestId)
  return {
    status,
    headers: { ...headers, ...pageHeaders },
    body: messagePage(titles[status] ?? 'This did not work', fault.message),
  }
}
