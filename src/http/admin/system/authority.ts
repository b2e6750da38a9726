import { Fault } from '../../../base/fault.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import type { Definition } from '../../../domain/inference/served-models.ts'

/** False: only the operator sees what belongs to the installation. */
export type SystemVisibility = { readonly isSystemVisible: boolean }

/** This process, and the machine that it runs on. */
export type NodeIdentity = { readonly id: string; readonly host: string }

/** What belongs to the installation is for the operator, and for administrators unless the configuration excludes them. */
export const hasSystemAccess = (
  { kind }: Pick<Administrator, 'kind'>,
  { isSystemVisible }: SystemVisibility,
): boolean => kind === 'operator' || isSystemVisible

export function requireSystemAccess(administrator: Administrator, parts: SystemVisibility): void {
  if (hasSystemAccess(administrator, parts)) return
  const message = 'Only the operator of this installation may see its upstreams, nodes and settings.'
  throw new Fault('permission', 'permission_denied', message)
}

/** Where a model is defined. The path of the configuration file belongs to the installation. */
export const shownDefinition = (
  definition: Definition,
  administrator: Pick<Administrator, 'kind'>,
  parts: SystemVisibility,
): Definition => (hasSystemAccess(administrator, parts) ? { ...definition } : { ...definition, file: null })
