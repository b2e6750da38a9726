/**
 * The audit document: a subset of OCSF 1.9.0 (https://schema.ocsf.io), with OCSF's field names. It holds facts and digests,
 * never a prompt or an answer. Texts are stored apart (`content.ts`), so that erasing one does not break the chain.
 */
export type AuditDocument = {
  readonly metadata: Metadata
  /** When it happened, Unix milliseconds. */
  readonly time: number
  readonly category_uid: number
  readonly class_uid: number
  readonly activity_id: number
  readonly type_uid: number
  readonly severity_id: number
  /** 1 success, 2 failure: of the call itself, independent of the policy decision. */
  readonly status_id: number
  readonly status_code?: string | undefined
  readonly message: string
  readonly action_id?: number | undefined
  readonly disposition_id?: number | undefined
  readonly is_alert?: boolean | undefined
  readonly policy?: PolicyReference | undefined
  readonly actor: DocumentActor
  readonly api: {
    readonly operation: string
    readonly service: Named
    readonly request?: { readonly uid: string } | undefined
  }
  readonly src_endpoint: { readonly ip?: string | undefined; readonly name?: string | undefined }
  readonly http_request?: HttpRequest | undefined
  readonly http_response?: { readonly code: number; readonly latency?: number | undefined } | undefined
  readonly ai_model?: AiModel | undefined
  readonly message_context?: MessageContext | undefined
  readonly resources?: readonly Resource[] | undefined
  readonly entity?: ManagedEntity | undefined
  readonly entity_result?: ManagedEntity | undefined
  readonly unmapped: Unmapped
  /** Absent until the document is appended to its chain. */
  readonly attestation_list?: readonly Attestation[] | undefined
}

/** A document with its sequence and fingerprint in the chain. */
export type ChainedDocument = AuditDocument & {
  readonly metadata: Metadata & { readonly sequence: number }
  readonly attestation_list: readonly [Attestation]
}

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined }

type Named = { readonly name: string }

export type Metadata = {
  /** The event's id, created once and the same on every retry. Use it to find duplicates. */
  readonly uid: string
  /** Position in the organization's chain, from 1, without gaps. */
  readonly sequence?: number | undefined
  readonly correlation_uid?: string | undefined
  readonly tenant_uid: string
  readonly version: string
  readonly product: { readonly name: string; readonly vendor_name: string; readonly version: string }
  readonly profiles: readonly string[]
  readonly log_name: string
  readonly event_code: string
  readonly logged_time: number
  /** Set if a text of the event was truncated for a destination's limits. */
  readonly is_truncated?: boolean | undefined
  readonly untruncated_size?: number | undefined
}

export type DocumentActor = {
  readonly user?: { readonly uid: string } | undefined
  /** The credential's id, never the credential. */
  readonly session?: { readonly uid: string; readonly credential_uid: string } | undefined
  readonly app_name?: string | undefined
}

export type PolicyReference = {
  readonly uid: string
  readonly name?: string | undefined
  readonly version?: string | undefined
  readonly is_applied: boolean
}

export type HttpRequest = {
  readonly http_method: string
  readonly url: { readonly path: string }
  readonly user_agent?: string | undefined
}

export type AiModel = { readonly ai_provider: string; readonly name: string }

export type MessageContext = {
  readonly service: Named
  readonly prompt_tokens?: number | undefined
  readonly completion_tokens?: number | undefined
  readonly total_tokens?: number | undefined
  /** Only in documents that are sent to a sink whose owner enabled texts. */
  readonly prompt_text?: string | undefined
  readonly response_text?: string | undefined
}

export type Resource = { readonly uid: string; readonly type: string; readonly name?: string | undefined }

export type ManagedEntity = Resource & {
  readonly type_id: number
  readonly version?: string | undefined
  readonly data?: { readonly [key: string]: JsonValue | undefined } | undefined
}

/** Fields that OCSF does not define: the gateway's own, and OpenTelemetry's names for model calls. */
export type Unmapped = {
  readonly gatehouse: { readonly [key: string]: JsonValue | undefined }
  readonly gen_ai?: { readonly [key: string]: JsonValue | undefined } | undefined
}

export type Fingerprint = { readonly algorithm_id: number; readonly algorithm: string; readonly value: string }

export type Attestation = {
  readonly chain_uid: string
  readonly authority_uid: string
  readonly prev_event?:
    | { readonly uid: string; readonly type_uid: number; readonly fingerprint: Fingerprint }
    | undefined
  readonly fingerprint?: Fingerprint | undefined
}

/** A field of `unmapped.gatehouse`, such as `decision` or `reason_code`, if it is a string. */
export function gatehouseField({ unmapped }: AuditDocument, name: string): string | undefined {
  const value = unmapped.gatehouse[name]
  return typeof value === 'string' ? value : undefined
}
