import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../../base/record.ts'
import { canonicalize } from '../event/canonical.ts'
import { withoutContent } from '../event/content.ts'
import { gatehouseField, type ChainedDocument, type Fingerprint, type JsonValue } from '../event/document.ts'

/** A row of the log. Every column except `body` is a copy of a field of the body, for queries. */
export type ChainedEvent = {
  readonly organizationId: string
  readonly chainUid: string
  readonly sequence: number
  readonly id: string
  readonly timeMs: number
  readonly code: string
  readonly decision: string | null
  readonly requestId: string | null
  readonly projectId: string | null
  readonly policyId: string | null
  readonly userId: string | null
  /** The key or token. */
  readonly actorId: string | null
  /** The object that a change is about; null in events of requests. */
  readonly resourceId: string | null
  /** Of requests, for filters; null in other events. */
  readonly model: string | null
  readonly upstream: string | null
  readonly status: RequestStatus | null
  readonly reasonCode: string | null
  /** The code of the error response. */
  readonly errorCode: string | null
  /** With a space before and after each. */
  readonly categories: string | null
  readonly latencyMs: number | null
  readonly firstByteMs: number | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly costMicroUsd: number | null
  readonly fingerprint: string
  /** The chained document as canonical JSON. */
  readonly body: string
}

/** As OCSF defines it: SHA-256 over the canonical JSON of the whole event, including `prev_event`, without its own fingerprint. */
function fingerprintOf(document: ChainedDocument): Fingerprint {
  const [attestation] = document.attestation_list
  return fingerprintOfText(
    canonicalize({ ...document, attestation_list: [{ ...attestation, fingerprint: undefined }] }),
  )
}

/** Whether a document matches its fingerprint. All fields of the fingerprint are compared, because they are not hashed. */
export const isUnaltered = (document: ChainedDocument): boolean =>
  isDeepStrictEqual(document.attestation_list[0].fingerprint, fingerprintOf(document))

/** The fingerprint of a document without one, given as canonical JSON. */
export const fingerprintOfText = (text: string): Fingerprint => sha256(hash('sha256', text, 'hex'))

export const sha256 = (value: string): Fingerprint => ({ algorithm: 'SHA-256', algorithm_id: 3, value })

export const toRow = (document: ChainedDocument): ChainedEvent => rowOf(document, canonicalize(document))

/** The row of a document whose canonical JSON is known. */
export function rowOf(document: ChainedDocument, body: string): ChainedEvent {
  const { metadata, actor, resources } = document
  return {
    organizationId: metadata.tenant_uid,
    chainUid: document.attestation_list[0].chain_uid,
    sequence: metadata.sequence,
    id: metadata.uid,
    timeMs: document.time,
    code: metadata.event_code,
    decision: gatehouseField(document, 'decision') ?? null,
    requestId: metadata.correlation_uid ?? null,
    projectId: resources?.find(({ type }) => type === 'project')?.uid ?? null,
    policyId: document.policy?.uid ?? managedPolicy(document),
    userId: actor.user?.uid ?? null,
    actorId: actor.session?.credential_uid ?? null,
    resourceId: gatehouseField(document, 'resource_id') ?? null,
    ...requestColumns(document),
    fingerprint: document.attestation_list[0].fingerprint?.value ?? '',
    body,
  }
}

/** The provider of a request that no upstream answered. */
const noUpstream = 'unknown'

const noRequest = {
  model: null,
  upstream: null,
  status: null,
  reasonCode: null,
  errorCode: null,
  categories: null,
  latencyMs: null,
  firstByteMs: null,
  inputTokens: null,
  outputTokens: null,
  costMicroUsd: null,
}

function requestColumns(document: ChainedDocument) {
  if (document.metadata.event_code !== 'gateway.request.decided') return noRequest
  const { ai_model: model, http_response: response, message_context: context, unmapped } = document
  const { categories_triggered: categories, cost_usd: costUsd, timing_us: timing } = unmapped.gatehouse
  return {
    model: model?.name ?? null,
    upstream: model === undefined || model.ai_provider === noUpstream ? null : model.ai_provider,
    status: requestStatusOf(document),
    reasonCode: gatehouseField(document, 'reason_code') ?? null,
    errorCode: document.status_id === 2 ? (document.status_code ?? null) : null,
    categories: Array.isArray(categories) && categories.length > 0 ? ` ${categories.join(' ')} ` : null,
    latencyMs: millisecondsIn(timing, 'total') ?? response?.latency ?? null,
    firstByteMs: millisecondsIn(timing, 'first_byte') ?? null,
    inputTokens: context?.prompt_tokens ?? null,
    outputTokens: context?.completion_tokens ?? null,
    costMicroUsd: typeof costUsd === 'number' ? Math.round(costUsd * microPerUsd) : null,
  }
}

const microPerUsd = 1_000_000

function millisecondsIn(timing: JsonValue | undefined, name: string): number | undefined {
  const us: unknown = isRecord(timing) ? timing[name] : undefined
  return typeof us === 'number' ? Math.round(us / 1000) : undefined
}

/** Answered, denied by a check, or failed for another reason. */
export const requestStatuses = ['ok', 'denied', 'error'] as const
export type RequestStatus = (typeof requestStatuses)[number]

function requestStatusOf(document: ChainedDocument): RequestStatus {
  const { decision, is_enforced: isEnforced } = document.unmapped.gatehouse
  if (isEnforced === true && (decision === 'refuse' || decision === 'escalate')) return 'denied'
  return document.status_id === 2 ? 'error' : 'ok'
}

const managedPolicy = ({ entity }: ChainedDocument): string | null => (entity?.type === 'policy' ? entity.uid : null)

/** The document of a stored row; undefined if the text is not a chained document. */
export function readChained(body: string): ChainedDocument | undefined {
  const document = parsed(body)
  return isChained(document) ? document : undefined
}

/** The row of an exported document, with or without texts, to verify a destination's copy. */
export function rowOfExport(line: string): ChainedEvent | undefined {
  const document = readChained(line)
  return document && toRow(withoutContent(document))
}

/** Undefined for invalid JSON, and for lone surrogates, which are never written and cannot be hashed. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => {
      if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) throw new TypeError(key)
      return value
    })
  } catch {
    return undefined
  }
}

/** Checks only the fields that readers need; the fingerprint covers the rest. */
function isChained(value: unknown): value is ChainedDocument {
  if (!isRecord(value) || !isRecord(value.metadata) || !isRecord(value.unmapped)) return false
  if (!isRecord(value.unmapped.gatehouse) || !Array.isArray(value.attestation_list)) return false
  const { uid, tenant_uid: tenant, event_code: code, sequence } = value.metadata
  const texts = [uid, tenant, code]
  return (
    texts.every((text) => typeof text === 'string') &&
    Number.isSafeInteger(sequence) &&
    Number.isSafeInteger(value.time) &&
    value.attestation_list.length === 1 &&
    isAttestation(value.attestation_list[0])
  )
}

function isAttestation(value: unknown): boolean {
  if (!isRecord(value) || typeof value.chain_uid !== 'string' || !hasFingerprint(value)) return false
  return value.prev_event === undefined || (isRecord(value.prev_event) && hasFingerprint(value.prev_event))
}

const hasFingerprint = (value: Record<string, unknown>): boolean =>
  isRecord(value.fingerprint) && typeof value.fingerprint.value === 'string'
