"""core.formats"""
