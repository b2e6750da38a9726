import { useSyncExternalStore } from 'react'

/** Whether the server answered the last call with 401. One place for the whole console, so that one dialog opens. */
let isSignedOut = false
let signedInAtMs = 0
const listeners = new Set<() => void>()

/** A call that was sent before the last sign-in says nothing about the session of now. */
export function reportSignedOut(sentAtMs: number): void {
  if (sentAtMs >= signedInAtMs) setSignedOut(true)
}

export function reportSignedIn(): void {
  signedInAtMs = Date.now()
  setSignedOut(false)
}

function setSignedOut(value: boolean): void {
  if (value === isSignedOut) return
  isSignedOut = value
  for (const notify of listeners) notify()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useSignedOut = (): boolean => useSyncExternalStore(subscribe, () => isSignedOut)
