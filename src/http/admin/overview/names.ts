import type { Permission } from '../../../domain/identity/permissions.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'
import type { MemberStore } from '../../../domain/members/member-store.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'

export type NameStores = {
  readonly directory: Pick<DirectoryStore, 'findProject' | 'findApiKey' | 'findAdminKey'>
  readonly members: Pick<MemberStore, 'findMember'>
  readonly policies: Pick<PolicyStore, 'find'>
}

export type Names = {
  /** The name of what has this id; null if it does not exist, has none or may not be seen. */
  of(id: string): Promise<string | null>
}

type Finder = { readonly permission: Permission; readonly find: (id: string) => Promise<Named | undefined> }
type Named = { readonly name: string | null }

/** Reads each name once. The prefix of an id tells what it is of. */
export function createNames(
  { directory, members, policies }: NameStores,
  organizationId: string,
  mayRead: (permission: Permission) => boolean,
): Names {
  const finders: Readonly<Record<string, Finder>> = {
    proj: { permission: 'projects:read', find: (id) => directory.findProject(organizationId, id) },
    key: { permission: 'keys:read', find: (id) => directory.findApiKey(organizationId, id) },
    adk: { permission: 'keys:read', find: (id) => directory.findAdminKey(organizationId, id) },
    mem: { permission: 'members:read', find: (id) => members.findMember(organizationId, id) },
    pol: { permission: 'policies:read', find: (id) => policies.find(organizationId, id) },
  }
  const known = new Map<string, Promise<string | null>>()
  const look = async (id: string): Promise<string | null> => {
    const prefix = id.slice(0, id.indexOf('_'))
    const finder = Object.hasOwn(finders, prefix) ? finders[prefix] : undefined
    return finder && mayRead(finder.permission) ? ((await finder.find(id))?.name ?? null) : null
  }
  return {
    of(id) {
      const name = known.get(id) ?? look(id)
      known.set(id, name)
      return name
    },
  }
}
