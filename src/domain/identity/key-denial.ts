import type { Administrator, Principal } from './principal.ts'

export const keyDenialReasons = [
  'ip_not_allowed',
  'revoked',
  'expired',
  'project_archived',
  'permission_denied',
] as const
export type KeyDenialReason = (typeof keyDenialReasons)[number]

/** Called when a request of a known key is denied. */
export type OnKeyDenied = (
  credential: Administrator | Principal,
  denial: { readonly address: string; readonly reason: KeyDenialReason },
) => void
