import { useSyncExternalStore } from 'react'

/** Whether the server answered the last call with 401. One place for the whole console, so that one dialog opens. */
let isSignedOut = false
const listeners = new Set<() => void>()

export function setSignedOut(value: boolean): void {
  if (value === isSignedOut) return
  isSignedOut = value
  for (const notify of listeners) notify()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useSignedOut = (): boolean => useSyncExternalStore(subscribe, () => isSignedOut)
