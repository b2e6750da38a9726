import type { NavigateOptions } from '@tanstack/react-router'
import { serverUrl } from '../api/client.ts'
import type { IconName } from '../kit/icon.tsx'
import { words } from '../words/en.ts'
import { keyLink } from '../session/attention.ts'
import { mayOpen, pages, type PageLink } from './pages.ts'
import { setPreferences } from '../session/preferences.ts'
import { leave, type Me } from '../session/session.tsx'

export type Command = {
  readonly id: string
  readonly name: string
  readonly hint: string
  readonly icon: IconName
  /** Where it leads, or what it does. */
  readonly target: NavigateOptions | (() => void)
}

const text = words.shell

type IdKind = keyof typeof text.openId

const idTargets: Record<IdKind, { readonly icon: IconName; readonly target: (id: string) => NavigateOptions }> = {
  req: { icon: 'requests', target: (id) => ({ to: '/requests/$requestId', params: { requestId: id } }) },
  pol: { icon: 'policies', target: (id) => ({ to: '/policies/$policyId', params: { policyId: id } }) },
  evt: { icon: 'audit', target: (id) => ({ to: '/audit/$eventId', params: { eventId: id } }) },
  key: { icon: 'key', target: keyLink },
  adk: { icon: 'key', target: keyLink },
  proj: { icon: 'key', target: (id) => ({ to: '/projects', search: { project_id: id } }) },
  mem: { icon: 'people', target: (id) => ({ to: '/members', search: { dialog: 'edit', id } }) },
  ses: { icon: 'people', target: (id) => ({ to: '/members', search: { tab: 'signIns', dialog: 'end', id } }) },
  sink: { icon: 'sinks', target: (id) => ({ to: '/sinks/$sinkId', params: { sinkId: id } }) },
  bud: { icon: 'costs', target: (id) => ({ to: '/costs', search: { view: 'budgets', budget: id } }) },
}

/** The object of an id, by its prefix. */
export function commandOfId(query: string): Command | undefined {
  const id = query.trim()
  const prefix = /^([a-z]+)_\w+$/.exec(id)?.[1]
  if (prefix === undefined || !isIdKind(prefix)) return undefined
  const { icon, target } = idTargets[prefix]
  return { id, name: text.openId[prefix](id), hint: '', icon, target: target(id) }
}

const isIdKind = (prefix: string): prefix is IdKind => Object.hasOwn(idTargets, prefix)

/** The pages, tabs and actions whose name contains the words. Tabs and actions come up only when something is typed. */
export function commandsFor(query: string, permissions: Me['permissions']): readonly Command[] {
  const wanted = query.trim().toLowerCase()
  const matching = (commands: readonly Command[]): Command[] =>
    commands.filter(({ name }) => name.toLowerCase().includes(wanted))
  const openPages = pages.filter((page) => mayOpen(page, permissions))
  const openParts = parts.filter((part) => mayOpen(part, permissions)).map(({ command }) => command)
  return [
    ...matching(openPages.map(commandOfPage)),
    ...(wanted === '' ? [] : [...matching(openParts), ...matching(actions)]),
  ]
}

const commandOfPage = ({ to, name, icon }: PageLink): Command => ({
  id: to,
  name,
  hint: text.goTo,
  icon,
  target: { to },
})

type Part = Pick<PageLink, 'needs'> & { readonly command: Command }

const part = (id: keyof typeof text.parts, icon: IconName, target: NavigateOptions): Command => ({
  id: `part-${id}`,
  name: text.parts[id],
  hint: text.goTo,
  icon,
  target,
})

const parts: readonly Part[] = [
  { command: part('spend', 'costs', { to: '/costs' }), needs: ['usage:read'] },
  { command: part('budgets', 'costs', { to: '/costs', search: { view: 'budgets' } }), needs: ['budgets:read'] },
]

/** The overview reads preferences when it opens. */
function showFirstSteps(): void {
  setPreferences({ hidesFirstSteps: false })
  location.assign(document.baseURI)
}

const action = (id: keyof typeof text.actions, icon: IconName, target: Command['target']): Command => ({
  id,
  name: text.actions[id],
  hint: text.action,
  icon,
  target,
})

const actions: readonly Command[] = [
  action('createPolicy', 'plus', { to: '/policies', search: { create: 'blank' } }),
  action('createKey', 'plus', { to: '/projects', search: { dialog: 'create' } }),
  action('createProject', 'plus', { to: '/projects', search: { tab: 'projects', dialog: 'create' } }),
  action('createAdminKey', 'plus', { to: '/projects', search: { tab: 'administrators', dialog: 'create' } }),
  action('createBudget', 'plus', { to: '/costs', search: { view: 'budgets', dialog: 'create' } }),
  action('light', 'theme', () => setPreferences({ theme: 'light' })),
  action('dark', 'theme', () => setPreferences({ theme: 'dark' })),
  action('system', 'theme', () => setPreferences({ theme: 'system' })),
  action('firstSteps', 'check', showFirstSteps),
  action('reference', 'link', () => window.open(`${serverUrl}/docs`, '_blank', 'noopener')),
  action('signOut', 'signOut', leave),
]
