import type { KeyPage, ProjectPage } from '../../../../domain/identity/store.ts'
import type { Condition } from '../page.ts'

export function projectConditions({ status }: ProjectPage): Condition[] {
  if (status === undefined) return []
  return [[status === 'active' ? 'archived_at is null' : 'archived_at is not null']]
}

export function keyConditions({ withoutRevoked, status, expiresBeforeMs }: KeyPage): Condition[] {
  const expiresSoon: Condition[] = expiresBeforeMs === undefined ? [] : [['expires_at < ?', expiresBeforeMs]]
  if (status === undefined) return [...(withoutRevoked ? [['revoked_at is null'] as const] : []), ...expiresSoon]
  if (status.is === 'revoked') return [['revoked_at is not null'], ...expiresSoon]
  const expiry = status.is === 'expired' ? 'expires_at <= ?' : '(expires_at is null or expires_at > ?)'
  return [['revoked_at is null'], [expiry, status.nowMs], ...expiresSoon]
}
