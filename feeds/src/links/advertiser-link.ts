// The link of an advertiser: the source file's link with the advertiser's id inserted.

export const ADVERTISER = '{advertiser}';

export function linkOf(link: string, advertiserId: string): string {
  return link.replaceAll(ADVERTISER, () => encodeURIComponent(advertiserId));
}
