import type { RuleFilter } from './rule.ts'

/** A period in Unix seconds, `to` exclusive. */
export type FigurePeriod = { readonly from: number; readonly to: number }

export type RequestFigures = {
  readonly requests: number
  readonly denials: number
  /** Those that failed because of an upstream or of the service. */
  readonly failures: number
}

export type KeyFigures = { readonly keyId: string; readonly requests: number; readonly tokens: number }

/** Reads the figures of rules from the sums, so that no evaluation scans requests. */
export type AlertFigures = {
  /** Micro-credits. */
  spent(organizationId: string, period: FigurePeriod, filter: RuleFilter | null): Promise<number>
  requests(organizationId: string, period: FigurePeriod, filter: RuleFilter | null): Promise<RequestFigures>
  /** Of the keys that sent requests. */
  keys(organizationId: string, period: FigurePeriod): Promise<readonly KeyFigures[]>
}

/** An upstream that fails on one of the nodes. */
export type FailingUpstream = { readonly name: string; readonly code: string | null; readonly sinceMs: number }
