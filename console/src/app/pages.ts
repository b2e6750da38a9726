import type { IconName } from '../kit/icon.tsx'
import { words } from '../words/en.ts'

export type PageLink = { readonly to: '/overview' | '/requests'; readonly name: string; readonly icon: IconName }

/** The pages of the sidebar and of the search. */
export const pages: readonly PageLink[] = [
  { to: '/overview', name: words.pages.overview, icon: 'overview' },
  { to: '/requests', name: words.pages.requests, icon: 'requests' },
]
