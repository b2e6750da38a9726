import { useQuery } from '@tanstack/react-query'
import { createContext, use, type ReactNode } from 'react'
import { api, dataOf, serverUrl, signOut } from '../api/client.ts'
import type { components } from '../api/schema.d.ts'

export type Me = components['schemas']['Me']

const meQuery = {
  queryKey: ['me'],
  queryFn: () => dataOf(api.GET('/v1/organization/me')),
  staleTime: 60_000,
} as const

export const useMeQuery = () => useQuery<Me>(meQuery)

/** Signs out. Reloads the page, so that nothing of the session stays in memory. */
export const leave = (): void => void signOut().finally(() => location.assign(document.baseURI))

const MeContext = createContext<Me | undefined>(undefined)

type MeProviderProps = {
  /** Undefined until the server has said who is signed in. */
  readonly me: Me | undefined
  readonly children: ReactNode
}

export function MeProvider({ me, children }: MeProviderProps) {
  return <MeContext value={me}>{children}</MeContext>
}

/** Who is signed in, for the frame, which is shown before it is known. */
export const useMeIfKnown = (): Me | undefined => use(MeContext)

/** Who is signed in. Only for pages, which are shown after it is known. */
export function useMe(): Me {
  const me = use(MeContext)
  if (me === undefined) throw new Error('useMe is used outside of MeProvider')
  return me
}

/** The address of inference for snippets. A server that listens on all addresses is reached by the host of this page. */
export function useInferenceUrl(): string {
  const { inference_url: url } = useMe()
  return url?.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, `//${location.hostname}`) ?? serverUrl
}

/** Whether the signed-in administrator may do something; the server decides again on each call. */
export function useMay(permission: Me['permissions'][number]): boolean {
  const { permissions } = useMe()
  return permissions.includes('*') || permissions.includes(permission)
}
