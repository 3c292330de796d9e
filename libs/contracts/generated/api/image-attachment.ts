/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * An image of a request, as older clients send it; it becomes the attachment image-1.png, image-2.jpg and so on.
 */
export interface ImageAttachment {
  /**
   * Media type of the image.
   */
  mime_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
  /**
   * Content in base64 with padding.
   */
  data: string;
  [k: string]: unknown;
}
