import type { IconName } from '../kit/icon.tsx'
import { words } from '../words/en.ts'

export type PageLink = {
  readonly to:
    | '/overview'
    | '/requests'
    | '/playground'
    | '/policies'
    | '/gateway'
    | '/models'
    | '/limits'
    | '/sinks'
    | '/alerts'
    | '/audit'
    | '/projects'
    | '/members'
    | '/settings'
  readonly name: string
  readonly icon: IconName
  /** The heading in the sidebar above the first page of the group. */
  readonly group?: keyof typeof words.shell.groups
}

/** The pages of the sidebar and of the search. */
export const pages: readonly PageLink[] = [
  { to: '/overview', name: words.pages.overview, icon: 'overview' },
  { to: '/requests', name: words.pages.requests, icon: 'requests' },
  { to: '/playground', name: words.pages.playground, icon: 'playground' },
  { to: '/policies', name: words.pages.policies, icon: 'policies', group: 'govern' },
  { to: '/gateway', name: words.pages.gateway, icon: 'gateway', group: 'govern' },
  { to: '/models', name: words.pages.models, icon: 'models', group: 'operate' },
  { to: '/limits', name: words.pages.limits, icon: 'limits', group: 'operate' },
  { to: '/sinks', name: words.pages.sinks, icon: 'sinks', group: 'operate' },
  { to: '/alerts', name: words.pages.alerts, icon: 'bell', group: 'operate' },
  { to: '/audit', name: words.pages.audit, icon: 'audit', group: 'operate' },
  { to: '/projects', name: words.pages.projects, icon: 'key', group: 'access' },
  { to: '/members', name: words.pages.members, icon: 'people', group: 'access' },
  { to: '/settings', name: words.pages.settings, icon: 'settings', group: 'installation' },
]
