import type { Administrator, Principal } from '../../identity/principal.ts'
import type { EventFacts } from './facts.ts'

export type IpDenial = {
  readonly who: Administrator | Principal
  readonly address: string
  readonly timeMs: number
}

/** A valid key was used from an address that its list does not hold: it may be stolen, or the list too short. */
export function ipDenialFacts({ who, address, timeMs }: IpDenial): EventFacts {
  const isAdmin = who.kind === 'admin_key'
  return {
    code: isAdmin ? 'admin.admin_api_key.denied' : 'admin.api_key.denied',
    organizationId: who.organization.id,
    projectId: isAdmin ? undefined : who.projectId,
    timeMs,
    message: `${who.id} was used from ${address}, which its allowed_ips do not hold.`,
    actor: { credentialId: who.id },
    failure: { code: 'ip_not_allowed' },
    resources: [{ type: isAdmin ? 'admin_api_key' : 'api_key', uid: who.id }],
    details: { actor_type: who.kind, address, resource_id: who.id },
  }
}
