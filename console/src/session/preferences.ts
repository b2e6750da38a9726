import { useSyncExternalStore } from 'react'

/** What this browser keeps. The theme and the density of rows are written to `<html>`, where the tokens read them. */
export const themes = ['system', 'light', 'dark'] as const
export const densities = ['compact', 'normal', 'comfortable'] as const

export type Theme = (typeof themes)[number]
export type Density = (typeof densities)[number]

export type Preferences = {
  readonly theme: Theme
  readonly density: Density
  /** Whether the first steps on the overview are hidden. */
  readonly hidesFirstSteps: boolean
  /** Whether somebody was signed in when the console was used last. */
  readonly wasSignedIn: boolean
  readonly requestViews: readonly RequestView[]
}

/** A named state of the page Requests: the part of its address that holds filters, columns and the range. */
export type RequestView = { readonly name: string; readonly search: Readonly<Record<string, string | number>> }

const storageKey = 'gatehouse.console.preferences'

export function readPreferences(): Preferences {
  const stored = parse(localStorage.getItem(storageKey))
  return {
    theme: themes.find((theme) => theme === stored['theme']) ?? 'system',
    density: densities.find((density) => density === stored['density']) ?? 'normal',
    hidesFirstSteps: stored['hidesFirstSteps'] === true,
    wasSignedIn: stored['wasSignedIn'] === true,
    requestViews: viewsIn(stored['requestViews']),
  }
}

const listeners = new Set<() => void>()

/** The theme and the density, also when another part of the page changes them. */
export function useLook(): Pick<Preferences, 'theme' | 'density'> {
  const theme = useSyncExternalStore(subscribe, () => readPreferences().theme)
  const density = useSyncExternalStore(subscribe, () => readPreferences().density)
  return { theme, density }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function setPreferences(changed: Partial<Preferences>): Preferences {
  const preferences = { ...readPreferences(), ...changed }
  localStorage.setItem(storageKey, JSON.stringify(preferences))
  applyPreferences()
  for (const listener of listeners) listener()
  return preferences
}

export function applyPreferences(): void {
  const { theme, density } = readPreferences()
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset['theme']
  else dataset['theme'] = theme
  if (density === 'normal') delete dataset['density']
  else dataset['density'] = density
}

function viewsIn(stored: unknown): readonly RequestView[] {
  if (!Array.isArray(stored)) return []
  return stored.flatMap((view: unknown) => {
    const { name, search } = Object(view) as Record<string, unknown>
    if (typeof name !== 'string') return []
    const kept = Object.entries(Object(search)).filter(
      (entry): entry is [string, string | number] => typeof entry[1] === 'string' || typeof entry[1] === 'number',
    )
    return [{ name, search: Object.fromEntries(kept) }]
  })
}

function parse(json: string | null): Record<string, unknown> {
  try {
    return Object(JSON.parse(json ?? '{}')) as Record<string, unknown>
  } catch {
    return {}
  }
}
