import type { IconName } from '../kit/icon.tsx'
import type { Me } from '../session/session.tsx'
import { words } from '../words/en.ts'

type Permission = Me['permissions'][number]

export type PageLink = {
  readonly to:
    | '/overview'
    | '/requests'
    | '/playground'
    | '/policies'
    | '/gateway'
    | '/reviews'
    | '/judges'
    | '/models'
    | '/costs'
    | '/limits'
    | '/sinks'
    | '/alerts'
    | '/audit'
    | '/projects'
    | '/members'
    | '/settings'
  readonly name: string
  readonly icon: IconName
  /** Any of these permissions opens it. */
  readonly needs?: readonly Permission[]
  /** The heading in the sidebar above the first page of the group. */
  readonly group?: keyof typeof words.shell.groups
}

/** The pages of the sidebar and of the search. */
export const pages: readonly PageLink[] = [
  { to: '/overview', name: words.pages.overview, icon: 'overview' },
  { to: '/requests', name: words.pages.requests, icon: 'requests', needs: ['audit:read'] },
  { to: '/playground', name: words.pages.playground, icon: 'playground', needs: ['playground:use', 'gateway:read'] },
  { to: '/policies', name: words.pages.policies, icon: 'policies', needs: ['policies:read'], group: 'govern' },
  { to: '/gateway', name: words.pages.gateway, icon: 'gateway', needs: ['gateway:read'], group: 'govern' },
  { to: '/reviews', name: words.pages.reviews, icon: 'check', needs: ['reviews:read'], group: 'govern' },
  { to: '/judges', name: words.pages.judges, icon: 'judges', needs: ['judges:read'], group: 'govern' },
  { to: '/models', name: words.pages.models, icon: 'models', group: 'operate' },
  { to: '/costs', name: words.pages.costs, icon: 'costs', needs: ['usage:read', 'budgets:read'], group: 'operate' },
  { to: '/limits', name: words.pages.limits, icon: 'limits', needs: ['usage:read'], group: 'operate' },
  { to: '/sinks', name: words.pages.sinks, icon: 'sinks', needs: ['exports:read'], group: 'operate' },
  { to: '/alerts', name: words.pages.alerts, icon: 'bell', needs: ['alerts:read'], group: 'operate' },
  { to: '/audit', name: words.pages.audit, icon: 'audit', needs: ['audit:read'], group: 'operate' },
  { to: '/projects', name: words.pages.projects, icon: 'key', needs: ['keys:read', 'projects:read'], group: 'access' },
  { to: '/members', name: words.pages.members, icon: 'people', group: 'access' },
  { to: '/settings', name: words.pages.settings, icon: 'settings', needs: ['system:read'], group: 'installation' },
]

/** Whether somebody with these permissions may open a page, or a part of one. The server decides again on each call. */
export const mayOpen = ({ needs }: Pick<PageLink, 'needs'>, permissions: readonly Permission[]): boolean =>
  needs === undefined || permissions.includes('*') || needs.some((each) => permissions.includes(each))
